import paddle

paddle.enable_static()
x = paddle.full([2, 2], 1.0, "float64")
x.stop_gradient = False
(g,) = paddle.static.gradients(paddle.linalg.multi_dot([x, x]), x)
try:
    (value,) = paddle.static.Executor().run(fetch_list=[g])
except ValueError as error:
    said = next((line for line in str(error).splitlines() if "type of data" in line), None)
    if said is None:
        raise
    raise AssertionError(f"raises {said.strip()}") from None
assert (value == 4).all()
