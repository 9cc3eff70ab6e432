import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
a = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
y = a / x
(g,) = paddle.grad(y, a, create_graph=True)  # 1 / x
try:
    (h,) = paddle.grad(g, y, create_graph=True, allow_unused=True)
except RuntimeError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).strip()}") from None
assert h is None or h.tolist() == [0.0, 0.0]
