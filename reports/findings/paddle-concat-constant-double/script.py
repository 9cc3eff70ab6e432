import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
data = paddle.to_tensor([5.0, 6.0])
y = (paddle.concat([data, x]) ** 2).sum()
(g,) = paddle.grad(y, x, create_graph=True)
try:
    (h,) = paddle.grad((g**2).sum(), x)
except SystemError as error:
    raise AssertionError(f"raises SystemError: {str(error).strip().splitlines()[0]}") from None
assert h.tolist() == [8.0, 16.0], f"the second derivative is {h.tolist()}, and [8, 16] is right"
