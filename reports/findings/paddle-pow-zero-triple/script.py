"""The third derivative of x ** 1 is NaN at 0."""

import paddle

x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
(g,) = paddle.grad([paddle.pow(x, 1.0)], [x], create_graph=True)
(h,) = paddle.grad([g], [x], create_graph=True)
(k,) = paddle.grad([h], [x], allow_unused=True)
assert k is None or k.tolist() == [0.0, 0.0]
