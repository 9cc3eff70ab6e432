import math

import paddle

F = paddle.nn.functional
x = paddle.to_tensor([math.inf, -math.inf])
found = [*F.softshrink(x).tolist(), F.thresholded_relu(x)[1].item()]
assert found == [math.inf, -math.inf, 0.0], f"{found} came, and [inf, -inf, 0] is documented"
