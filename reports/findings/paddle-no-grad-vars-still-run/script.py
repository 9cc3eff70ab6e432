import paddle

x = paddle.to_tensor(3.0, stop_gradient=False)
h = x * x
y = paddle.exp(h) + x * 2.0

try:
    (g,) = paddle.grad(y, [x], no_grad_vars=[h])
except ValueError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert g.item() == 2.0
