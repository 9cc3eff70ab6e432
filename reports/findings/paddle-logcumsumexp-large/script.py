import paddle

x = paddle.to_tensor([1e8, 1e8, 1e8], stop_gradient=False)
(g,) = paddle.grad(paddle.logcumsumexp(x, 0).sum(), x)
assert abs(g[0].item() - 11 / 6) < 1e-3, f"the gradient of logcumsumexp([1e8, 1e8, 1e8]) begins with {g[0].item()}; 1 + 1/2 + 1/3 is right"
