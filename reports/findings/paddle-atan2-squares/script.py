import paddle

x = paddle.to_tensor([1e20, 0.0], stop_gradient=False)
y = paddle.to_tensor([1.0, 1e-23], stop_gradient=False)
in_x, in_y = paddle.grad(paddle.atan2(x, y).sum(), [x, y])
assert in_y[0].item() != 0, "the derivative of atan2(1e20, y) at y = 1 is 0; -1e-20 is right"
assert in_x[1].item() < 1e24, f"the derivative of atan2(x, 1e-23) at x = 0 is {in_x[1].item()}; 1e23 is right"
