import paddle

x = paddle.to_tensor([4.0], dtype="float64", stop_gradient=False)
y = paddle.sqrt(paddle.sqrt(x).reshape([1, 1]))  # x ** 0.25
(g,) = paddle.grad(y, x, create_graph=True)
(h,) = paddle.grad(g, x)
right = -3 / 16 * 4.0**-1.75
assert abs(h.item() - right) < 1e-9, f"the second derivative of x ** 0.25 at 4 is {h.item():.6f}, and {right:.6f} is right"
