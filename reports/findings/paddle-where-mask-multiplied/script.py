import math

import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
chosen = paddle.where(paddle.to_tensor([True, False]), x, paddle.zeros([2]))
(found,) = paddle.grad(chosen, x, paddle.to_tensor([1.0, math.inf]))
assert found.tolist() == [1.0, 0.0], f"the gradient of what is left out is {found[1].item()}"
