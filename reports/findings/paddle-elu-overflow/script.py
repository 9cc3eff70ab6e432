import paddle

x = paddle.to_tensor([50.0, 100.0], stop_gradient=False)
paddle.nn.functional.celu(x).sum().backward()
assert x.grad.tolist() == [1.0, 1.0], f"the gradient of celu at 50 and 100 is {x.grad.tolist()}, and 1 is right"
