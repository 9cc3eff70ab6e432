import paddle

x = paddle.to_tensor([1e8, 1e8, 1e8], stop_gradient=False)
(g,) = paddle.grad(paddle.logsumexp(x, 0), x)
assert abs(g.sum().item() - 1) < 1e-3, f"the gradient of logsumexp([1e8, 1e8, 1e8]) is {g.tolist()}; 1/3 each is right"
