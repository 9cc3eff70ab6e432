import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
y = paddle.sin(x)
seen = []
y.register_hook(lambda g: seen.append(g.dtype))
v = paddle.to_tensor([1.0, 1.0], dtype="float64")
try:
    paddle.autograd.backward([y], [v])
except ValueError as error:
    said = str(error).strip().splitlines()[-2].strip()
    raise AssertionError(f"a hook on a float32 tensor has seen {seen[0]}, and then a kernel raises {said}") from None
assert seen == [paddle.float32]
