"""The derivative of a second operand, differentiated by itself with a seed, ends the process."""

import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
seed = paddle.to_tensor([1.0, 1.0])
y = paddle.multiply(paddle.to_tensor([3.0, 2.0]), x)
(g,) = paddle.grad([y], [x], create_graph=True)
(h,) = paddle.grad([g], [g], [seed])
assert h.tolist() == [1.0, 1.0]
