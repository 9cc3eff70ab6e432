import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
y = (x * x).sum()

(g,) = paddle.grad(y, [x], retain_graph=False)
assert g.tolist() == [2.0, 4.0]
try:
    paddle.grad(y, [x], retain_graph=False)
except (RuntimeError, SystemError):
    pass
else:
    raise AssertionError("a second paddle.grad through the graph that the first should have freed is accepted")
