import paddle

x = paddle.ones([1, 2, 2])
v, w = paddle.ones([2, 2]), paddle.ones([2, 1])
v.stop_gradient = w.stop_gradient = False
(slope,) = paddle.grad((x @ v @ w).sum(), v, create_graph=True)
(found,) = paddle.grad(slope.sum(), w)
assert found.shape == w.shape, f"the gradient of a weight of the shape {w.shape} has the shape {found.shape}"
