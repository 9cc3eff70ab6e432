import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
y = paddle.to_tensor(3.0, stop_gradient=False)
loss = (paddle.stack([y, x @ x]) ** 2).sum()
(g,) = paddle.grad(loss, x, create_graph=True)
try:
    (h,) = paddle.grad((g**2).sum(), x)
except ValueError as error:
    raise AssertionError(f"raises ValueError: {str(error).strip().splitlines()[0]}") from None
assert h.tolist() == [2400.0, 4800.0], f"the second derivative is {h.tolist()}, and [2400, 4800] is right"
