import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
e, s, u = paddle.zeros([0]), paddle.zeros([0]), paddle.ones([3])
s.stop_gradient = u.stop_gradient = False
z = e + x.sum(keepdim=True)  # nothing plus one number is nothing
(g,) = paddle.grad(z, x, s, create_graph=True)
(h,) = paddle.grad(g, s, u, create_graph=True)
assert h.shape == [0]
found = [paddle.grad(h, u, retain_graph=True)[0] for _ in range(20)]
assert not any(k.any() for k in found), f"the derivatives of nothing are {[k[0].item() for k in found]}, and 0 is right everywhere"
