import paddle

bound = paddle.to_tensor(1.0, stop_gradient=False)
y = paddle.clip(paddle.to_tensor([0.5, 2.0, 3.0]), max=bound)
assert y.tolist() == [0.5, 1.0, 1.0]
assert not y.stop_gradient, "two elements are the bound, which requires a gradient, and the result does not require one"
