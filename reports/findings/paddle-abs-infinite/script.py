import paddle

x = paddle.to_tensor([float("inf"), -float("inf")], stop_gradient=False)
(g,) = paddle.grad(paddle.abs(x).sum(), x)
assert g.tolist() == [1.0, -1.0], f"the gradient is {g.tolist()}, and [1, -1] is right"
