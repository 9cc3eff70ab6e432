import paddle

z = paddle.to_tensor([1 + 1j], stop_gradient=False)
s = paddle.to_tensor([1 + 0j], stop_gradient=False)
(g,) = paddle.grad(paddle.log(z), z, s, create_graph=True)
(h,) = paddle.grad(paddle.real(g), s)
assert abs(h.item() - (0.5 - 0.5j)) < 1e-6, f"the second derivative is {h.item()}, and 0.5 - 0.5j is right"
