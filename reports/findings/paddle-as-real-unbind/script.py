import paddle

z = paddle.to_tensor([1 + 2j, 3 + 4j], stop_gradient=False)
a, b = paddle.unbind(paddle.as_real(z))
(g,) = paddle.grad(b, z, paddle.ones([2]))
assert g.tolist() == [0, 1 + 1j], f"the gradient of a tensor of shape [2] is {g.tolist()}, and [0, 1 + 1j] is right"
