import paddle

zero = paddle.zeros([1])
assert paddle.multiply(zero, paddle.to_tensor([-1.0])).signbit().item()  # -0.0, as IEEE 754 says
wrong = [name for name, y in {"-x": -zero, "-1 * x": -1 * zero}.items() if not y.signbit().item()]
assert not wrong, f"{' and '.join(wrong)} of 0.0 is 0.0, so that 1 / -x is {(1 / -zero).item()}, and -inf is right"
