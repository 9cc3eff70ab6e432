import paddle

c = paddle.to_tensor([1.0, 2.0])
w = paddle.to_tensor([5.0], stop_gradient=False)
c[0:1] = w
assert not c.is_leaf
(c * c).sum().backward()
assert w.grad.tolist() == [10.0]
assert c.grad is None, f"c.grad is {c.grad.tolist()}, and None is right (the gradient of c would be [10, 4])"
