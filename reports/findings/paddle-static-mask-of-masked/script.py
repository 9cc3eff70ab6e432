import paddle

paddle.enable_static()
x = paddle.static.data("x", [3], "float32")
y = x[paddle.to_tensor([True, False, True])]  # its length depends on the mask: [-1] while the program is built
try:
    z = y[paddle.to_tensor([True, False])]
except IndexError as error:
    raise AssertionError(f"a mask of two numbers, for two numbers, raises IndexError: {error}") from None
(found,) = paddle.static.Executor().run(feed={"x": [1.0, 2.0, 3.0]}, fetch_list=[z])
assert found.tolist() == [1.0], found.tolist()
