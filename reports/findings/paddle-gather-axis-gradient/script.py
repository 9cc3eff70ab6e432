import paddle

x = paddle.ones([2, 3])
x.stop_gradient = False
index = paddle.to_tensor([0, 2])
arriving = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
(found,) = paddle.grad(paddle.gather(x, index, axis=1), x, arriving)
right = [[1.0, 0.0, 2.0], [3.0, 0.0, 4.0]]
assert found.tolist() == right, f"the gradient is {found.tolist()}, and {right} is right"
