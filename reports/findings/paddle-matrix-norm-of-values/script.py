import paddle

x = paddle.to_tensor([[3.0, 0.0], [0.0, 4.0]])
try:
    norm = paddle.linalg.matrix_norm(x, p="nuc").item()
except ValueError as error:
    said = next(line for line in str(error).splitlines() if "axis's size" in line)
    raise AssertionError(f"the nuclear norm of a matrix raises {said}") from None
assert abs(norm - 7.0) < 1e-5
