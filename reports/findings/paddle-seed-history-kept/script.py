"""The gradient that paddle.grad returns depends on the history of a seed that was made a constant."""

import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
seed = x * x
seed.stop_gradient = True
y = 3 * x
(g,) = paddle.grad([y], [x], [seed], create_graph=True)  # 3 seed, which is a constant in x
z = x * g
z.backward(paddle.ones([2]))
print(seed.stop_gradient, x.grad.tolist())  # True; [9, 36], the derivative of 3 x^3; that of x times a constant is [3, 12]
assert x.grad.tolist() == [9.0, 36.0]
