import paddle

x = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
w = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
paddle.grad(x, x, grad_outputs=w)
assert not w.stop_gradient, "stop_gradient of grad_outputs was False before the call, and is True after it"
