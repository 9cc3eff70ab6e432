import paddle
import paddle.nn.functional as F

order = []
x = paddle.ones([2, 3, 1])
a = paddle.ones([3, 2])
b = paddle.ones([2, 2])
w = paddle.ones([5, 3, 3])
for leaf in (x, a, b, w):
    leaf.stop_gradient = False
x.register_hook(lambda g: order.append("x"))
a.register_hook(lambda g: order.append("a"))

y = F.pad(F.pad(x, [2, 0, 2, 1, 0, 1]), [1, 0, 2, 0, 0, 1])
(g,) = paddle.grad(y @ w @ a @ b, w, create_graph=True)
g.sum().backward()
assert order == ["x", "a"], f"the hooks run in the order {order}, and ['x', 'a'] is that in which the leaves become ready"
