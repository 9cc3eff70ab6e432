import paddle

paddle.enable_static()
x = paddle.static.data("x", [2, 3], "float64")
weights = paddle.static.data("weights", [3], "float64")
try:
    paddle.linalg.cov(x, aweights=weights)
except TypeError as error:
    said = next(line for line in str(error).splitlines() if line.strip())[:120]
    raise AssertionError(f"cov with weights cannot be built into a program: {said}") from None
