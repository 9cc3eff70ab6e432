import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
a, b = paddle.split(x, [2, 1])

(alone,) = paddle.grad([b], [x], retain_graph=True)
assert alone.tolist() == [0.0, 0.0, 1.0]

g, _ = paddle.grad([b], [x, a], allow_unused=True)
assert g is not None, "the gradient of b with respect to x is None, but [0, 0, 1] without a among the inputs"
