import paddle

paddle.enable_static()
x = paddle.static.data("x", [1, 2, 3], "float64")
try:
    paddle.nn.functional.local_response_norm(x, 3)
except TypeError as error:
    raise AssertionError(f"float64 raises TypeError in a program, and none in dynamic mode: {error}") from None
