import paddle

x = paddle.full([8], -1000.0)
x.stop_gradient = False
y = paddle.nn.functional.softplus(x)
(g,) = paddle.grad(y, x, create_graph=True)
(h,) = paddle.grad(g, x)
assert h.tolist() == [0.0] * 8, f"the second derivative of softplus at -1000 is {h.tolist()[0]}, and 0 is right"
