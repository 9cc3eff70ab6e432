import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
w = paddle.to_tensor([5.0, 6.0], stop_gradient=False)

y = x * 3
y.stop_gradient = True
(g,) = paddle.grad((y + w).sum(), x, allow_unused=True)
assert g is None

y.add_(w)
(g,) = paddle.grad(y.sum(), x, allow_unused=True)
assert g is None, f"the gradient of x is {g.tolist()}, and None is right: y had stop_gradient=True"
