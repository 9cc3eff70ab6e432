import paddle


def grad_after_error(op):
    w = paddle.to_tensor(1.0, stop_gradient=False)
    v = paddle.to_tensor(1.0, stop_gradient=False)
    h = w * 1
    s = op(paddle.sin(h))
    (g,) = paddle.grad(s, [h], v, create_graph=True)
    paddle.sin(s).backward()  # frees part of the graph of g
    try:
        g.backward()
    except SystemError:
        return v.grad


first, second = grad_after_error(lambda t: t), grad_after_error(lambda t: t * 1.0)
assert (first is None) == (second is None), f"v.grad is {first.item():.2f} after the error, and {second} with another * 1.0"
