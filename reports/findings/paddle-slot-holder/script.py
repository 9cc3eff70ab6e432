import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
c = paddle.to_tensor([3.0, 4.0])
(g,) = paddle.grad((c * x).sum(), x, create_graph=True)  # c
try:
    (h,) = paddle.grad((g * g).sum(), g)
except SystemError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).strip()}") from None
assert h.tolist() == [6.0, 8.0], f"the gradient is {h.tolist()}, and [6, 8] is right"
