import paddle

x = paddle.to_tensor([2.0, 3.0])
src = paddle.to_tensor([0.0, 4.0], stop_gradient=False)
y = paddle.scatter_reduce(x, 0, paddle.to_tensor([0, 0]), src, "prod")
(g,) = paddle.grad(y.sum(), src)
assert g.tolist() == [8.0, 0.0], f"the gradient is {g.tolist()}, and [8, 0] is right"
