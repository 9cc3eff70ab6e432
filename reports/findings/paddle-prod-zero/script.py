import paddle

x = paddle.to_tensor([0.0, 2.0, 3.0], stop_gradient=False)
paddle.prod(x).backward()
assert x.grad.tolist() == [6.0, 0.0, 0.0], f"the gradient is {x.grad.tolist()}, and [6, 0, 0] is right"
