import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
v = paddle.to_tensor([1.0, 1.0])
assert v.stop_gradient
paddle.grad(x, x, grad_outputs=v, create_graph=True)
assert v.stop_gradient, "stop_gradient of grad_outputs was True before the call, and is False after it"
