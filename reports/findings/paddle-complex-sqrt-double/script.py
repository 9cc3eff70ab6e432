import paddle

z = paddle.to_tensor([3 + 4j], stop_gradient=False)
one = paddle.to_tensor([1 + 0j])
(g,) = paddle.grad(paddle.sqrt(z), z, one, create_graph=True)
try:
    (h,) = paddle.grad(paddle.real(g), z)
except RuntimeError as error:
    raise AssertionError(f"raises RuntimeError: {str(error).strip().splitlines()[0]}") from None
assert abs(h.item() - (-0.004 - 0.022j)) < 1e-5, f"the second derivative is {h.item()}"
