import paddle

x = paddle.to_tensor([2.0, -2.0, 2.0], stop_gradient=False)
(found,) = paddle.grad(paddle.linalg.norm(x, float("inf")), x)
assert found.abs().sum() <= 1, f"the gradient of the infinity norm of {x.tolist()} is {found.tolist()}, which is no subgradient"
