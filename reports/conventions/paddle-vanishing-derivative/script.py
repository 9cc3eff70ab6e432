import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)

seconds = []
for y in (paddle.pow(x, 1.0), x * 1.0):
    (g,) = paddle.grad(y, x, create_graph=True)
    (h,) = paddle.grad(g, x, allow_unused=True)
    seconds.append(None if h is None else h.tolist())

a, b = seconds
assert (a is None) == (b is None), f"the second derivative is {a} for pow(x, 1.0) and {b} for x * 1.0"
