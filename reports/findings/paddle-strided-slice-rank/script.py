"""A slice with a step refuses a tensor of seven axes."""

import paddle

x = paddle.ones([3, 1, 1, 1, 1, 1, 1])
assert x[0:3:1].shape == [3, 1, 1, 1, 1, 1, 1]
assert x[0:3:2].shape == [2, 1, 1, 1, 1, 1, 1]
