import paddle

x = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], stop_gradient=False)
y = x.t()[paddle.to_tensor([1, 0]), paddle.to_tensor([0, 1])]
(gradient,) = paddle.grad(y, x, paddle.to_tensor([10.0, 20.0]))
found, right = (y.tolist(), gradient.tolist()), ([2.0, 4.0], [[0.0, 10.0, 0.0], [20.0, 0.0, 0.0]])
assert found == right, f"the elements and their gradient are {found}, and {right} is right"
