import paddle

x = paddle.to_tensor([1e-6, -2e-6], dtype="float64", stop_gradient=False)
(found,) = paddle.grad(paddle.linalg.norm(x, 2), x)
right = x / (x * x).sum().sqrt()
assert abs(found - right).max() < 1e-12, f"the gradient of the 2-norm of {x.tolist()} is {found.tolist()}, and {right.tolist()} is right"
