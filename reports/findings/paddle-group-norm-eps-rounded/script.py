import math

import paddle

x = paddle.to_tensor([[0.0, 0.02]], dtype="float64")
right = 0.01 / math.sqrt(0.01**2 + 1e-5)
found = paddle.nn.functional.group_norm(x, 1, 1e-5)[0, 1].item()
assert abs(found - right) < 1e-13, f"group_norm in float64 is {found:.16f}, and {right:.16f} is right"
