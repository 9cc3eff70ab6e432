"""A product over no elements does not broadcast its batch."""

import paddle

y = paddle.matmul(paddle.ones([2, 3, 2, 0]), paddle.ones([2, 1, 3, 0, 2]))
assert y.shape == [2, 2, 3, 2, 2]
