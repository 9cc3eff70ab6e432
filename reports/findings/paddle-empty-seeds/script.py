import paddle

x = paddle.to_tensor(3.0, stop_gradient=False)

try:
    paddle.grad([x * x, x * 3], [x], grad_outputs=[])
except (AssertionError, ValueError):
    accepted = False
else:
    accepted = True
assert not accepted, "grad_outputs=[] is accepted for two outputs"
