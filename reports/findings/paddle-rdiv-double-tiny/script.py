import paddle

x = paddle.to_tensor([1e-20, 1.0], stop_gradient=False)
(g,) = paddle.grad(0.0 / x, x, create_graph=True)
(h,) = paddle.grad(g, x)
assert h.tolist() == [0.0, 0.0], f"the second derivative is {h.tolist()}, and [0, 0] is right"
