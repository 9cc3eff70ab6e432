import math

import paddle

x = paddle.to_tensor([3e38, 0.0, 0.0], stop_gradient=False)
(g,) = paddle.grad([paddle.cumprod(x, 0)], [x], [paddle.to_tensor([1.0, 1.0, 2.0])])
assert not math.isnan(g[1].item()), f"the gradient of cumprod([3e38, 0, 0]) is {g.tolist()}; 3e38 is right in the middle"
