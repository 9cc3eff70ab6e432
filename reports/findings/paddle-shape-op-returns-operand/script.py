import paddle

x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
with paddle.no_grad():
    y = x.reshape([1, 2])
    z = x[:]
    other = x.reshape([2])
assert other.stop_gradient
assert y.stop_gradient, "stop_gradient of reshape under no_grad is False where the shape is the same"
assert z.stop_gradient, "stop_gradient of x[:] under no_grad is False"
