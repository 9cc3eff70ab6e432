import paddle

x = paddle.to_tensor([1.0], dtype="float64", stop_gradient=False)
(found,) = paddle.grad(paddle.gammaln(x).sum(), x)
right = -0.57721566490153286
assert abs(found.item() - right) < 1e-14, f"the gradient of gammaln at 1 is {found.item()}, and {right} is right"
