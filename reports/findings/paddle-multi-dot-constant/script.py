import paddle

x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
y = paddle.to_tensor([[1.0, 0.0], [2.0, 1.0]])
z = paddle.to_tensor([[1.0], [-1.0]])
try:
    paddle.linalg.multi_dot([x, y, z]).backward()
except ValueError as error:
    raise AssertionError("multi_dot with a constant has no backward") from error
