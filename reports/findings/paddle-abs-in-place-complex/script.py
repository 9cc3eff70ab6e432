import paddle

z = paddle.to_tensor([3 + 4j, 0 + 1j])
first = z[:1]
try:
    z.abs_()
except (RuntimeError, ValueError, TypeError):
    pass  # as PyTorch does
else:
    assert first.item() in (5, 3 + 4j), f"z.abs_() is {z.tolist()}, and z[:1] from before it is {first.tolist()}"
