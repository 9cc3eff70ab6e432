import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
h = x * x
h.square_()  # x ** 4

(g,) = paddle.grad(h, [x], create_graph=True)
assert g.tolist() == [4.0, 32.0]
(gg,) = paddle.grad(g, [x])
assert gg.tolist() == [12.0, 48.0], f"the second derivative of x ** 4 is {gg.tolist()}, and [12, 48] is right"
