import paddle

z = paddle.to_tensor([1 + 2j], stop_gradient=False)
one = paddle.to_tensor([1 + 0j])
(g,) = paddle.grad(z**3, z, one, create_graph=True)
assert abs(g.item() - (-9 - 12j)) < 1e-4
(h,) = paddle.grad(paddle.real(g), z)
assert abs(h.item() - (6 - 12j)) < 1e-4, f"the second derivative is {h.item()}, and 6 - 12j is right"
