import paddle

found = []
for number in (3.0, -7.0):
    paddle.full([2], number)  # what lies in memory afterwards
    x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
    (gradient,) = paddle.grad(paddle.amin(x, axis=0).sum(), x)
    found.append(gradient.tolist())
assert found == [[[1.0, 1.0]]] * 2, f"the gradient of the least element along an axis of length 1 is {found}"
