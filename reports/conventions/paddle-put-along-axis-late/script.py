import paddle

x = paddle.to_tensor([[1.0, 2.0, 3.0]], stop_gradient=False)
y = paddle.to_tensor([[4.0]], stop_gradient=False)
z = paddle.put_along_axis(x, paddle.to_tensor([[1]]), y, 1, broadcast=False)
message = ""
try:
    (g,) = paddle.grad(z, x, paddle.ones_like(z), create_graph=True)
    g.sum().backward()
except RuntimeError:  # the refusal of other ops without a second derivative, before anything is recorded
    pass
except ValueError as error:
    message = str(error).strip().splitlines()[-1]
assert not message, f"the derivative of put_along_axis was recorded, and cannot be differentiated: {message[:100]}"
