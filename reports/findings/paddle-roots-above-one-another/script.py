import paddle

x = paddle.to_tensor(3.0, stop_gradient=False)
y = x * x
try:
    paddle.autograd.backward([y, x])
except SystemError as error:
    said = next(line for line in str(error).splitlines() if "GradTensorHolder" in line)
    raise AssertionError(f"backward([y, x]) raises SystemError: {said.strip()}") from None
assert x.grad.item() == 7.0
