import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
w = paddle.to_tensor([5.0, 6.0], stop_gradient=False)
h = x * 2
h.register_hook(lambda g: w)  # the gradient of h is w from here on
paddle.grad(h.sum(), [h, x])
assert not w.stop_gradient, "stop_gradient of w was False before the call, and is True after it"
