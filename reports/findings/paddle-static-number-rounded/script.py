import paddle

paddle.enable_static()
x = paddle.static.data("x", [1], "float64")
y = x + 0.1
(value,) = paddle.static.Executor().run(feed={"x": [1.0]}, fetch_list=[y])
assert value.tolist() == [1.1], f"1.0 + 0.1 in float64 is {value.tolist()}, and [1.1] is right"
