import paddle

x = paddle.to_tensor(2.0, stop_gradient=False)
y = paddle.to_tensor(1.0, stop_gradient=False)
g, h = paddle.grad(paddle.minimum(x, y), [x, y], create_graph=True)
(d,) = paddle.grad(g * 2, [h], allow_unused=True)
assert d is None, f"the gradient of g * 2 with respect to h, on which it does not depend, is {d.item()}"
