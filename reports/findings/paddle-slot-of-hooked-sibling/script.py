import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], stop_gradient=False)
a, b = paddle.chunk(x, 2)
b.register_hook(lambda g: None)

try:
    (g,) = paddle.grad(a * 2, [a])
except SystemError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).strip().splitlines()[0]}") from None
assert g.tolist() == [2.0, 2.0]
