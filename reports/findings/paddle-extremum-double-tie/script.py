import paddle

x = paddle.to_tensor(2.0, stop_gradient=False)
y = paddle.to_tensor(2.0, stop_gradient=False)
v = paddle.to_tensor(1.0, stop_gradient=False)

(g,) = paddle.grad([paddle.minimum(x, y)], [x], [v], create_graph=True)
assert g.item() == 0.5  # v / 2
(slope,) = paddle.grad([g], [v])
assert slope.item() == 0.5, f"the derivative of v / 2 with respect to v is {slope.item()}"
