import math

import paddle

x = paddle.to_tensor([0.0, math.nan, 1.0])
assert math.isnan(paddle.max(paddle.abs(x)).item())
norm = paddle.linalg.norm(x, float("inf")).item()
assert math.isnan(norm), f"the largest size of [0, nan, 1] is {norm}, and that of its absolute values NaN"
