import paddle

x = paddle.to_tensor([[3.0, 4.0]], dtype="float64", stop_gradient=False)
y = paddle.nn.functional.normalize(x, epsilon=0.5)
(g,) = paddle.grad(y[0, 0], x)
found = g[0, 0].item()
assert abs(found - 0.128) < 1e-15, f"the derivative of 3 / |(3, 4)| is {found}, and 16 / 125 is right"
