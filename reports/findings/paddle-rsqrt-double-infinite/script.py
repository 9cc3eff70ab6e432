import paddle

x = paddle.to_tensor([float("inf"), 4.0], stop_gradient=False)
(g,) = paddle.grad(paddle.rsqrt(x), x, create_graph=True)
(h,) = paddle.grad(g, x)
assert h.tolist()[1] == 0.0234375  # 3/4 * 4**-2.5
assert h.tolist()[0] == 0.0, f"the second derivative at infinity is {h.tolist()[0]}, and 0 is right"
