import math

import paddle

x = paddle.to_tensor([0.0, -100.0], dtype="float64")
_, value = paddle.nn.functional.softmax(x).tolist()
right = math.exp(-100.0) / (1 + math.exp(-100.0))
assert abs(value / right - 1) < 1e-6, f"softmax([0, -100]) has {value}, and {right} is right"
