import paddle

layer = paddle.nn.LSTM(2, 3)
for weight in layer.parameters():
    weight.stop_gradient = True
x = paddle.ones([1, 4, 2])
x.stop_gradient = False
states, _ = layer(x)
try:
    states.sum().backward()
except ValueError as error:
    raise AssertionError("a recurrent layer whose weights are frozen has no backward") from error
assert x.grad is not None, "the input has no gradient"
