import paddle

x, y = paddle.to_tensor([1.0]), paddle.to_tensor([0.0])
variance = paddle.to_tensor([2.0], stop_gradient=False)
loss = paddle.nn.functional.gaussian_nll_loss(x * variance, y, variance)  # v^2 / v + log(v), halved
(found,) = paddle.grad(loss, variance)
assert found.item() == 0.75, f"the derivative of (v + log v) / 2 at 2 is {found.item()}, and 0.75 is right"
