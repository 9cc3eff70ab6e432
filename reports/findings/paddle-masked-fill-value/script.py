import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
mask = paddle.to_tensor([True, False, True])
v = paddle.to_tensor(5.0, stop_gradient=False)

paddle.masked_fill(x, mask, v).sum().backward()
assert x.grad.tolist() == [0.0, 1.0, 0.0]
assert v.grad.item() == 2.0, f"v.grad is {v.grad.item()}, and 2 is right"
