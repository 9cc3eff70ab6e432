import paddle
import paddle.nn.functional as F


def stop(grad):
    raise ValueError("stop")


def key_grad(attend):
    query, key, value = (paddle.to_tensor([[[[2.0]]]], stop_gradient=False) for _ in range(3))
    query.register_hook(stop)
    try:
        attend(query, key, value).backward()
    except Exception:
        return key.grad


called = key_grad(F.scaled_dot_product_attention)
written = key_grad(lambda q, k, v: F.softmax(q @ k.transpose([0, 1, 3, 2])) @ v)
assert (called is None) == (written is None), "key.grad is set for attention that is called, and None for attention that is written out"
