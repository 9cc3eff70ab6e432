import paddle

x = paddle.ones([2])
y = paddle.ones([2])
x.stop_gradient = y.stop_gradient = False
(of_max,) = paddle.grad(paddle.max(x), x)
of_maximum = [g.tolist()[0] for g in paddle.grad(paddle.maximum(x, y), [x, y])]
(of_clip,) = paddle.grad(paddle.clip(x, max=1.0), x)
found = [of_max.tolist(), of_maximum, of_clip.tolist()]
assert found == [[0.5, 0.5], [0.5, 0.5], [1.0, 1.0]], f"the gradients at ties of max and maximum and at a bound are {found}"
