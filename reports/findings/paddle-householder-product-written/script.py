import paddle

x = paddle.to_tensor([[5.0, 2.0], [3.0, 4.0]], stop_gradient=False)
tau = paddle.to_tensor([0.5, 0.5])
q = paddle.linalg.householder_product(x, tau)
found = x.tolist()
try:
    paddle.grad(q.sum(), x)
except RuntimeError as error:
    said = next(line for line in str(error).splitlines() if "modified" in line)[:90]
    raise AssertionError(f"householder_product made [[5, 2], [3, 4]] {found}, and its gradient is refused: {said}") from None
assert found == [[5, 2], [3, 4]], f"householder_product made [[5, 2], [3, 4]] {found}"
