import math

import paddle

x = paddle.to_tensor([-10.0, -20.0])  # float32
y = paddle.nn.functional.softplus(x).tolist()

right = [math.log1p(math.exp(-10.0)), math.log1p(math.exp(-20.0))]
assert all(abs(a / b - 1) < 1e-5 for a, b in zip(y, right)), f"softplus([-10, -20]) is {y}, and {right} is right"
