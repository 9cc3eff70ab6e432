import paddle


def stop(grad):
    raise ValueError("stop")


def left_in_w(op):
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
    x.register_hook(stop)
    try:
        (op(x) + paddle.exp(w)).sum().backward()
    except Exception:
        return w.grad


one, several = left_in_w(paddle.clone), left_in_w(paddle.nan_to_num)
assert (one is None) == (several is None), "w.grad is None beside clone(x), and set beside nan_to_num(x)"
