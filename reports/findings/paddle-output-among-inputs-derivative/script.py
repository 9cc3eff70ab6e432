import paddle

x = paddle.to_tensor(3.0, stop_gradient=False)
v = paddle.to_tensor(1.0, stop_gradient=False)
y = x * x
(g,) = paddle.grad([x], [x], [v], create_graph=True)

(alone,) = paddle.grad([g], [v], retain_graph=True)
assert alone.item() == 1.0
of_v, of_x = paddle.grad([g, y], [v, x], allow_unused=True)
assert of_x.item() == 6.0
assert of_v is not None, "the derivative of g with respect to v is None beside another output, and 1 alone"
