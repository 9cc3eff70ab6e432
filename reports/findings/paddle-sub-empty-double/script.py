import paddle

x = paddle.zeros([0, 1])
y = paddle.to_tensor(1.0, stop_gradient=False)
v = paddle.to_tensor(2.0, stop_gradient=False)

(g,) = paddle.grad((x - y).sum(), y, v, create_graph=True)  # minus v, as often as x has elements: 0
(h,) = paddle.grad(g, v)
assert h.item() == 0.0, f"the derivative of 0 * v is {h.item()}"
