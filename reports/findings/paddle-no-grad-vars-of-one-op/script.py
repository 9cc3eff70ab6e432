import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
a, b = paddle.split(x * x, 2)
y = (a * a).sum() + x.sum()  # with a held fixed the gradient is [1, 1]

(one,) = paddle.grad(y, [x], no_grad_vars=[b, a], retain_graph=True)
assert one.tolist() == [1.0, 1.0]

(g,) = paddle.grad(y, [x], no_grad_vars=[a, b])
assert g.tolist() == [1.0, 1.0], f"the gradient is {g.tolist()}, and [1, 1] is right, as with no_grad_vars=[b, a]"
