"""Two tensors are refused as one, where the reason to refuse the call is that neither is reached."""

import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
s = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
y = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
v = s * s
(g,) = paddle.grad([x], [x], [v], create_graph=True)
assert g is not v
try:
    paddle.grad([y.sum()], [v, g])
except RuntimeError as error:
    print(error)  # inputs contain duplicate tensor; there is none
    assert "duplicate tensor" in str(error)
