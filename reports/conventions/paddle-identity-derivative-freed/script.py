import paddle

x = paddle.to_tensor(1.0, stop_gradient=False)
(g,) = paddle.grad(x.clone(), x, create_graph=True)
g.backward()
try:
    g.backward()
    raised = False
except SystemError:
    raised = True
assert not raised, "the second backward of the derivative of x.clone() raises, although that derivative is a constant"
