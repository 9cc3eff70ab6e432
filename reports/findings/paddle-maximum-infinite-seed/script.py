import paddle

x = paddle.to_tensor([3.0], stop_gradient=False)
y = paddle.to_tensor([1.0])
(g,) = paddle.grad(paddle.maximum(x, y), x, paddle.to_tensor([float("inf")]))
assert g.item() == float("inf"), f"the gradient of maximum(3, 1) in 3 is {g.item()} for grad_outputs=[inf]; inf is right"
