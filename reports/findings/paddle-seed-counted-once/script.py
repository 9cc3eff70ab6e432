"""The gradient that paddle.grad returns and its seed are counted once where both are differentiated."""

import paddle

x = paddle.ones([2])
x.stop_gradient = False
s = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
seed = s * s
(g,) = paddle.grad([x], [x], [seed], create_graph=True)
assert g is not seed
paddle.autograd.backward([g, seed])
print(s.grad.tolist())  # [4, 6], the derivative of one of them; that of the sum is [8, 12]
assert s.grad.tolist() == [4.0, 6.0]
try:
    paddle.grad([g, seed], [s])
except RuntimeError as error:
    print(error)  # outputs contain duplicate tensor
