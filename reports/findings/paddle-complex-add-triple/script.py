"""The third derivative of a complex sum in a seed is refused, where the gradient of one operand alone was asked for."""

import paddle

x, y, s, t, u = (paddle.to_tensor([1.0 + 0j, 2.0 + 0j], stop_gradient=False) for _ in range(5))
(g,) = paddle.grad([x + y], [x], [s], create_graph=True)
(h,) = paddle.grad([g], [s], [t], create_graph=True)
(k,) = paddle.grad([h], [t], [u])
assert k.tolist() == [1.0, 2.0]
