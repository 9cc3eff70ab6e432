import math

import paddle

y = paddle.logcumsumexp(paddle.to_tensor([0.0, float("nan"), 1.0]), 0).tolist()
assert math.isnan(y[1]), f"logcumsumexp of [0, nan, 1] is {y}; it is NaN from the second on"
