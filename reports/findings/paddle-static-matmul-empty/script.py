import paddle

paddle.enable_static()
x = paddle.zeros([0, 2])
w = paddle.static.data("w", [2, 3], "float32")
w.stop_gradient = False
(g,) = paddle.static.gradients(x @ w, w)
try:
    (value,) = paddle.static.Executor().run(feed={"w": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]}, fetch_list=[g])
except ValueError as error:
    reason = next(line.strip() for line in str(error).splitlines() if "Error:" in line)
    raise AssertionError(f"raises {type(error).__name__}: {reason}") from None
assert value.tolist() == [[0.0] * 3] * 2, f"the gradient is {value.tolist()}, and zeros are right"
