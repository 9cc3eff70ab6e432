import paddle

x = paddle.to_tensor([[0.0, 0.0], [1.0, 2.0], [3.0, -1.0]], stop_gradient=False)
(found,) = paddle.grad(paddle.pdist(x, 0.5).sum(), x)
pairs = (x[:1] - x[1:2], x[:1] - x[2:], x[1:2] - x[2:])
(right,) = paddle.grad(sum(pair.abs().sqrt().sum() ** 2 for pair in pairs), x)
assert paddle.allclose(found, right), f"the gradient of the distances of order 0.5 is {found.tolist()}, and {right.tolist()} is right"
