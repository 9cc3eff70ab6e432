import math

import paddle

x = paddle.to_tensor([float("nan"), -1.0])
(value, _) = paddle.nn.functional.relu(x).tolist()
assert math.isnan(paddle.maximum(x, paddle.zeros([2])).tolist()[0])
assert math.isnan(value), f"relu of nan is {value}, and max(nan, 0) is nan"
