import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
s = paddle.to_tensor([1.0, 2.0], dtype="float64")
paddle.autograd.backward([x, x * 10], [s, None])
assert x.grad.tolist() == [11.0, 12.0], f"the gradient is {x.grad.tolist()}, and [11, 12] is right"

x.clear_gradient(set_to_zero=False)
x.backward(s)
assert x.grad.dtype == x.dtype, f"the gradient of a {x.dtype} tensor is {x.grad.dtype}"
