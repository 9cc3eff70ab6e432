import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
a, b = paddle.split(x, [2, 1])
(g,) = paddle.grad(b, x, grad_outputs=b, create_graph=True)
assert g.tolist() == [0.0, 0.0, 3.0]
(h,) = paddle.grad(g.sum(), x)
assert h.tolist() == [0.0, 0.0, 1.0], f"the gradient is {h.tolist()}, and [0, 0, 1] is right"
