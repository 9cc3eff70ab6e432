import paddle

z = paddle.to_tensor([1 + 2j, 3 + 4j, 5 + 6j], stop_gradient=False)
y = paddle.as_real(z).t().sum()
try:
    (g,) = paddle.grad(y, z)
except ValueError as error:
    raise AssertionError(f"raises ValueError: {str(error).strip().splitlines()[0]}") from None
assert g.tolist() == [1 + 1j, 1 + 1j, 1 + 1j], f"the gradient is {g.tolist()}, and 1 + 1j is right"
