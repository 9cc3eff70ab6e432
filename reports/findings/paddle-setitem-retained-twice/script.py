import paddle

c = paddle.to_tensor([1.0, 2.0, 3.0])
w = paddle.to_tensor([5.0], stop_gradient=False)
c[0:1] = w
c.retain_grads()
c.sum().backward()
assert c.grad.tolist() == [1.0, 1.0, 1.0], f"the gradient is {c.grad.tolist()}, and [1, 1, 1] is right"
