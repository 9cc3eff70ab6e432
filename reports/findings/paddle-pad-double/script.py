import paddle
import paddle.nn.functional as F

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
w = paddle.ones([4])
w.stop_gradient = False
loss = (F.pad(x, [1, 1], value=7.0) * w).sum()

(g,) = paddle.grad(loss, [x], create_graph=True)  # w[1:3]
g.sum().backward()
assert w.grad.tolist() == [0.0, 1.0, 1.0, 0.0], f"w.grad is {w.grad.tolist()}, and [0, 1, 1, 0] is right"
