import paddle

w = paddle.to_tensor([0.25], stop_gradient=False)
y = paddle.lerp(paddle.to_tensor([1.0]), paddle.to_tensor([3.0]), w)
assert not y.stop_gradient, "lerp of a weight that requires a gradient does not require one, and its slope is y - x"
