import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
h = x * 3
y = (h * x).sum()
try:
    found = paddle.grad(y, [x, h], no_grad_vars=[h])
except ValueError as error:
    assert "allow_unused" in str(error)
else:
    raise AssertionError(f"nothing is raised, and the gradient of h is {found[1]}, although allow_unused is not set")
