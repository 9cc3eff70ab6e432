"""A call makes the caller's tensor a constant: the seed of a tensor in itself."""

import paddle

x = paddle.ones([2])
seed = paddle.ones([2])
x.stop_gradient = seed.stop_gradient = False
paddle.grad([x], [x], [seed])
print(seed.stop_gradient)  # True
assert seed.stop_gradient
other = paddle.ones([2])
other.stop_gradient = False
paddle.grad([2 * x], [x], [other])
assert not other.stop_gradient
