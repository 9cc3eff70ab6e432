import paddle

x = paddle.to_tensor([0.0, 2.0], stop_gradient=False)
(d1,) = paddle.grad(x**1, x, create_graph=True)
(d2,) = paddle.grad(d1, x, create_graph=True)
assert d2.tolist() == [0.0, 0.0]
(d3,) = paddle.grad(d2, x, allow_unused=True)
assert d3 is None or d3.tolist() == [0.0, 0.0], f"the third derivative is {d3.tolist()}, and [0, 0] is right"
