import paddle

z = paddle.to_tensor([1 + 1j], stop_gradient=False)
w = paddle.to_tensor([1 + 1j], stop_gradient=False)
(g,) = paddle.grad(paddle.imag(z**w).sum(), z)
step = 1e-5
right = [((1 + 1j + d) ** (1 + 1j) - (1 + 1j - d) ** (1 + 1j)).imag / (2 * step) for d in (step, step * 1j)]
assert abs(g.item() - complex(*right)) < 1e-3, f"the gradient is {g.item()}, and {complex(*right)} is right"
