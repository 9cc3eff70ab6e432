import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
h = x * 1
h[0].scale_(3.0)
assert h.tolist() == [3.0, 2.0]

(g,) = paddle.grad(h.sum(), x)
assert g.tolist() == [3.0, 1.0], f"the gradient of 3 x[0] + x[1] is {g.tolist()}, and [3.0, 1.0] is right"
