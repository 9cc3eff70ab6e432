import paddle

x = paddle.to_tensor([0.5, 0.9, 0.9], stop_gradient=False)
(found,) = paddle.grad(paddle.max(x), x)
assert found.tolist() == [0.0, 1.0, 1.0], f"the gradient of max is {found.tolist()}, and it is documented to go to every tie in full"
