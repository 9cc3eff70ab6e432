import paddle

x = paddle.to_tensor(2.0, stop_gradient=False)
y = x * x
paddle.grad(x, x, grad_outputs=x)
paddle.autograd.backward([x, y])
assert x.grad.item() == 5.0, f"the gradient of x + x^2 at 2 is {x.grad.item()}, and 5 is right"
