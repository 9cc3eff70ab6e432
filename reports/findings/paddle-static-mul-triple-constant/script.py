import paddle

paddle.enable_static()
x, s, t, data = (paddle.static.data(name, [1], "float32") for name in ("x", "s", "t", "data"))
x.stop_gradient = s.stop_gradient = t.stop_gradient = False
(g,) = paddle.static.gradients(x * data, [x], [s])
(h,) = paddle.static.gradients(g, [s], [t])
try:
    (k,) = paddle.static.gradients(h, [t])
except ValueError as error:
    said = next(line for line in str(error).splitlines() if line.strip())
    raise AssertionError(f"raises ValueError: {said.strip()}") from None
feed = {"x": [1.0], "s": [1.0], "t": [2.0], "data": [3.0]}
(value,) = paddle.static.Executor().run(feed=feed, fetch_list=[k])
assert value.tolist() == [3.0]
