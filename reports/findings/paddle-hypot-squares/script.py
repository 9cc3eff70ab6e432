import paddle

x = paddle.to_tensor([0.0, 3e20, 3e-30], stop_gradient=False)
y = paddle.to_tensor([0.0, 4e20, 4e-30])
length = paddle.hypot(x, y)
assert paddle.isfinite(length).all(), f"hypot of (3e20, 4e20) is {length[1].item()}, and 5e20 is right"
(found,) = paddle.grad(length.sum(), x)
assert found[0].item() == 0, f"the gradient of hypot at (0, 0) is {found[0].item()}, and 0 is right"
