import paddle

paddle.enable_static()
x = paddle.static.data("x", [2, 2], "float32")
x.stop_gradient = False
values, _ = paddle.linalg.eig(x)
(g,) = paddle.static.gradients(paddle.real(values).sum(), x)
(found,) = paddle.static.Executor().run(feed={"x": [[1.0, 0.0], [0.0, 2.0]]}, fetch_list=[g])
assert found.dtype == "float32", f"the gradient of a float32 matrix is {found.dtype}"
