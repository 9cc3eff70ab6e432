import paddle

x = paddle.to_tensor([-9.5], stop_gradient=False)
(slope,) = paddle.grad(paddle.digamma(x).sum(), x)
right = paddle.polygamma(x, 1).item()
assert abs(slope.item() - right) < 1e-3, f"the gradient of digamma at -9.5 is {slope.item()}, and polygamma(-9.5, 1) is {right}"
