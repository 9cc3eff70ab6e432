import paddle

x = paddle.full([40, 1], 1.5)
e = paddle.zeros([0])
x.stop_gradient = e.stop_gradient = False

z = e * paddle.exp(x)  # has the shape [40, 0]
(g,) = paddle.grad(z, e, create_graph=True)
assert g.shape == [0]
found = [paddle.grad(g, x, retain_graph=True)[0] for _ in range(20)]
assert not any(h.any() for h in found), f"the derivatives of nothing are {[h[1].item() for h in found]}, and 0 is right everywhere"
