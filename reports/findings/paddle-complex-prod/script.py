import paddle

z = paddle.to_tensor([1 + 2j, 3 + 1j], stop_gradient=False)
(g,) = paddle.grad(paddle.real(paddle.prod(z)), z)
assert abs(g[0].item() - (3 - 1j)) < 1e-5, f"the gradient in z[0] is {g[0].item()}, and 3 - 1j is right"
