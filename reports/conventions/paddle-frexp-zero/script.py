import paddle

x = paddle.to_tensor(0.0, stop_gradient=False)
(gradient,) = paddle.grad(paddle.frexp(x)[0], x)
assert gradient.item() == 1.0, f"the gradient at 0 is {gradient.item()}, where 2 ** -exponent is 1"
