import paddle

z = paddle.to_tensor([1 + 2j, 3 - 1j], stop_gradient=False)
w = paddle.to_tensor([2 + 0j, 1 + 0j])
s = paddle.to_tensor([5.0, 6.0])
for _ in range(20):  # what lies behind s differs from call to call
    z.clear_grad()
    paddle.autograd.backward([z, z * w], [s, None])
    assert z.grad.tolist() == [7, 7], f"the gradient is {z.grad.tolist()}, and [7, 7] is right"
