import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
s = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
y = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
v = s * s
(g,) = paddle.grad(x, x, grad_outputs=v, create_graph=True)
try:
    found = paddle.grad(y.sum(), [v, g], allow_unused=True)
except RuntimeError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).strip().splitlines()[0]}") from None
assert found == [None, None]
