"""The gradient of a batched product is refused, where the batch of each operand broadcasts to that of the other."""

import paddle

x = paddle.ones([2, 3, 1])
x.stop_gradient = False
y = paddle.matmul(x, paddle.ones([2, 1, 1, 2]))
assert y.shape == [2, 2, 3, 2]
(g,) = paddle.grad([y], [x], [paddle.ones(y.shape)])
assert g.shape == [2, 3, 1]
