import paddle

x = paddle.ones([3])
w = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
v = x[0:2]
v.multiply_(w)
assert x.tolist() == [2.0, 3.0, 1.0]

(x * x).sum().backward()
assert w.grad is not None, "x is [w0, w1, 1], and w.grad is None after (x * x).sum().backward(); [4, 6] is right"
