import paddle

x = paddle.zeros([0, 3])  # an empty batch, of which no gradient is needed
weight, bias = paddle.ones([3]), paddle.zeros([3])
bias.stop_gradient = False
y = paddle.nn.functional.layer_norm(x, [3], weight, bias)
try:
    (g,) = paddle.grad(y, bias)
except ValueError as error:
    said = next(line for line in str(error).splitlines() if "nullptr" in line)
    raise AssertionError(f"the gradient of layer_norm of an empty batch in its bias fails: {said}") from None
assert g.tolist() == [0.0, 0.0, 0.0]
