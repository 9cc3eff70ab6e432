import paddle

paddle.enable_static()
feed = {"v": [1.0, 1.0], "x": [[1.0] * 3] * 2, "s": [[1.0], [1.0]], "w": [[1.0, 1.0]]}
shapes = {"v": [2], "x": [2, 3], "s": [2, 1], "w": [1, 2]}
v, x, s, w = (paddle.static.data(name, shape, "float32") for name, shape in shapes.items())
for variable in (v, x, s, w):
    variable.stop_gradient = False
(g,) = paddle.static.gradients(v @ x, x)
assert paddle.static.gradients(g, s, g) == [None]  # g does not depend on s
(k,) = paddle.static.gradients(s @ w, s)
(seen,) = paddle.static.Executor().run(feed=feed, fetch_list=[g])
assert seen.shape == (2, 3), f"the gradient in x, of shape (2, 3), is fetched as {seen.tolist()}"
