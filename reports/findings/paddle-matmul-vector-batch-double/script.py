import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
w = paddle.to_tensor([[[1.0], [2.0]], [[3.0], [4.0]]], stop_gradient=False)
(g,) = paddle.grad((x @ w).sum(), x, create_graph=True)  # the sum of w over the batch, [4, 6]
assert g.tolist() == [4.0, 6.0]

try:
    (h,) = paddle.grad((g**2).sum(), w)
except ValueError as error:
    raise AssertionError(f"raises ValueError: {str(error).strip().splitlines()[0][:120]}") from None
assert h.tolist() == [[[8.0], [12.0]], [[8.0], [12.0]]]
