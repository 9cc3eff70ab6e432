import paddle

x = paddle.to_tensor(1.0, stop_gradient=False)
c = paddle.to_tensor(2.0)
d = c * c
y = x * d

try:
    (g,) = paddle.grad(y, [x], no_grad_vars=[d])
except SystemError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert g.item() == 4.0
