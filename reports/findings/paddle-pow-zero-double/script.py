import paddle

x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
y = sum(x**k for k in range(4))  # 1 + x + x^2 + x^3, second derivative 2 + 6 x
(g,) = paddle.grad(y, x, create_graph=True)
(h,) = paddle.grad(g, x)
assert h.tolist() == [2.0, 8.0], f"the second derivative is {h.tolist()}, and [2, 8] is right"
