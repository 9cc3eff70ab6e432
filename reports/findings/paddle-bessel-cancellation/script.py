import paddle

x = paddle.to_tensor([3.0e7], stop_gradient=False)
(slope,) = paddle.grad(paddle.i0e(x).sum(), x)
right = -1.2139e-12
assert abs(slope.item() / right - 1) < 0.01, f"the slope of i0e at 3e7 is {slope.item()}, and {right} is right"
