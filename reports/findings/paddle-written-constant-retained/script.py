import paddle

c = paddle.to_tensor([3.0])
w = paddle.to_tensor([2.0], stop_gradient=False)
c.multiply_(w)
c.retain_grads()
c.backward()
assert c.grad.tolist() == [1.0], f"c.grad is {c.grad.tolist()}, and [1] is right"
