import paddle

a = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
b = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
y = paddle.concat([paddle.tan(a), b])
try:
    (g,) = paddle.grad((y * y).sum(), b, create_graph=True)
except RuntimeError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).strip().split('. ')[0]}") from None
assert g.tolist() == [6.0, 8.0], f"the gradient is {g.tolist()}, and [6, 8] is right"
