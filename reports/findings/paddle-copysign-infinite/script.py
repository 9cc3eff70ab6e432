import paddle

x = paddle.to_tensor([float("inf"), 2.0], stop_gradient=False)
(found,) = paddle.grad(paddle.copysign(x, paddle.to_tensor([-1.0, -1.0])).sum(), x)
assert found.tolist() == [-1.0, -1.0], f"the gradients of copysign(x, -1) at inf and 2 are {found.tolist()}, and both are -1"
