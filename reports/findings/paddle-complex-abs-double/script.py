import paddle

z = paddle.to_tensor([3 + 4j], stop_gradient=False)
(g,) = paddle.grad(paddle.abs(z), z, create_graph=True)
(h,) = paddle.grad(paddle.real(g) + paddle.real(z), z)
assert abs(h.item() - (1.128 - 0.096j)) < 1e-5, f"the second derivative is {h.item()}, and 1.128 - 0.096j is right"
