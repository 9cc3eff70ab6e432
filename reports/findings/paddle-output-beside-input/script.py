"""The gradient of an output is lost as soon as another result of the same op is among the inputs."""

import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
a, b = paddle.split(x, [2, 1])
(alone,) = paddle.grad([b], [x], retain_graph=True)
g, _ = paddle.grad([b], [x, a], allow_unused=True)
print(alone.tolist(), g)  # [0, 0, 1] is right for both
assert g is not None, "the gradient of b with respect to x is None"
