import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0])
mask = paddle.to_tensor([True, False, True])
v = paddle.to_tensor(5.0, stop_gradient=False)

y = paddle.masked_fill(x, mask, v)
(g,) = paddle.grad((y * y).sum(), [v], create_graph=True)
assert g.item() == 20.0
try:
    (h,) = paddle.grad(g, [v])
except ValueError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert h.item() == 4.0
