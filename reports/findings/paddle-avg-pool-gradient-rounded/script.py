import paddle

x = paddle.to_tensor([[[1.0, 2.0, 4.0]]], dtype="float64", stop_gradient=False)
y = paddle.nn.functional.avg_pool1d(x, kernel_size=3)
y.backward()
found = x.grad[0, 0, 0].item()
assert abs(found - 1 / 3) < 1e-15, f"the gradient of a mean of three in float64 is {found}, and {1 / 3} is right"
