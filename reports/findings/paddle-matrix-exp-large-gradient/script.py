import paddle

x = paddle.to_tensor([[11.0, 0.0], [0.0, 1.0]], dtype="float64", stop_gradient=False)
y = paddle.linalg.matrix_exp(x)
try:
    found = paddle.grad(y.sum(), x)
except RuntimeError as error:
    said = next(line for line in str(error).splitlines() if "modified" in line)
    raise AssertionError(f"matrix_exp of a matrix of the norm 11 has no gradient: {said}") from None
