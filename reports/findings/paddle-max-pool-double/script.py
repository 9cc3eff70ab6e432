import paddle

x = paddle.to_tensor([[[[1.0, 2.0]]]], stop_gradient=False)
y = paddle.nn.functional.max_pool2d(x, [1, 2])
seed = paddle.to_tensor([[[[3.0]]]], stop_gradient=False)
(g,) = paddle.grad([y], [x], [seed], create_graph=True)
try:
    (found,) = paddle.grad(g.sum(), [seed])
except ValueError as error:
    raise AssertionError(f"a gradient that was computed with create_graph cannot be differentiated: {error}") from None
assert found.item() == 1.0
