import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], stop_gradient=False)
a, b = paddle.split(x, 2)
try:
    ga, gb = paddle.grad((a * b).sum(), [a, b])
except SystemError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).strip()}") from None
assert ga.tolist() == [3.0, 4.0], f"the gradient of a is {ga.tolist()}, and [3, 4] is right"
assert gb.tolist() == [1.0, 2.0], f"the gradient of b is {gb.tolist()}, and [1, 2] is right"
