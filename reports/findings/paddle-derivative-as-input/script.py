import paddle
import paddle.nn.functional as F

x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
h = F.sigmoid(x.unsqueeze(0))
y = F.sigmoid(h)
(g,) = paddle.grad(y.sum(), x, create_graph=True)
z = (g * h).sum()

(alone,) = paddle.grad(z, [g], retain_graph=True)
assert paddle.allclose(alone, F.sigmoid(x))
both, _ = paddle.grad(z, [g, y])
assert paddle.allclose(both, F.sigmoid(x)), f"the gradient is {both.tolist()}, and sigmoid(x) = {alone.tolist()} is right"
