import math

import paddle

x, y = paddle.to_tensor([1.0]), paddle.to_tensor([2.0])
variance = paddle.to_tensor([math.inf])
loss = paddle.nn.functional.gaussian_nll_loss(x, y, variance).item()
assert loss == math.inf, f"the loss of an infinite variance is {loss}; inf is right"
