import paddle

x = paddle.to_tensor([[[1.0, 0.0], [0.0, 2.0]], [[3.0, 0.0], [0.0, 4.0]]], stop_gradient=False)
values, vectors = paddle.linalg.eig(x)  # before Paddle 3.3 both have to take part
(values.real() * paddle.to_tensor([[1.0, 1.0], [5.0, 5.0]]) + 0.0 * vectors.real().sum()).sum().backward()
found = x.grad[1].tolist()
assert found == [[5.0, 0.0], [0.0, 5.0]], f"the gradient of 5 trace(x[1]) is {found}, and 5 times the identity is right"
