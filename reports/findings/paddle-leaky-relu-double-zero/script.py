import paddle
import paddle.nn.functional as F

x = paddle.to_tensor(0.0, stop_gradient=False)
v = paddle.to_tensor(1.0, stop_gradient=False)

(g,) = paddle.grad([F.leaky_relu(x, 0.25)], [x], [v], create_graph=True)
assert g.item() == 1.0  # g is v
(slope,) = paddle.grad([g], [v])
assert slope.item() == 1.0, f"g is v, and its derivative with respect to v is {slope.item()}"
