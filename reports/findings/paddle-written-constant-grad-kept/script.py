import paddle

c = paddle.to_tensor([3.0])
w = paddle.to_tensor([2.0], stop_gradient=False)
c.multiply_(w)
assert not c.is_leaf
c.backward()
assert w.grad.tolist() == [3.0]
assert c.grad is None, f"c.grad is {c.grad.tolist()}, and None is right (the gradient of c would be [1])"
