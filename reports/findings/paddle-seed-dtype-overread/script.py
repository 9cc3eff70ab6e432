import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0], dtype="float64", stop_gradient=False)
s = paddle.to_tensor([1.0, 2.0, 3.0], dtype="float32")
for _ in range(20):  # what lies behind s differs from call to call
    x.clear_grad()
    paddle.autograd.backward([x, x * 10], [s, None])
    assert x.grad.tolist() == [11.0, 12.0, 13.0], f"the gradient is {x.grad.tolist()}, and [11, 12, 13] is right"
