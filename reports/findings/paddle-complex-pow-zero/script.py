import paddle

z = paddle.to_tensor([0j, 2 + 0j], stop_gradient=False)
y = paddle.pow(z, 1.0)
assert y.tolist() == [0, 2]
(g,) = paddle.grad(y, z, paddle.ones_like(y))
assert g.tolist() == [1, 1], f"the gradient of z ** 1 at 0 and 2 is {g.tolist()}, and ones are right"
