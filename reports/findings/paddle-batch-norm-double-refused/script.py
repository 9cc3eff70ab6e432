import paddle

x = paddle.to_tensor([[1.0], [3.0]], stop_gradient=False)
weight = paddle.to_tensor([2.0], stop_gradient=False)
bias = paddle.to_tensor([0.5], stop_gradient=False)
y = paddle.nn.functional.batch_norm(x, paddle.zeros([1]), paddle.ones([1]), weight, bias, training=False)
(g,) = paddle.grad((y * y).sum(), [x], create_graph=True)
try:
    paddle.grad(g.sum(), [x])
except ValueError as error:
    raise AssertionError(f"there is no second derivative of an affine map: {error}") from None
