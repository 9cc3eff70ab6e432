import math

import paddle

x = paddle.to_tensor([1.17549435e-38])
y = paddle.erf(x).item()
right = 2 / math.sqrt(math.pi) * x.item()
assert abs(y / right - 1) < 1e-6, f"erf is {y}, and {right} is right"
