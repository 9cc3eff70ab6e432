import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
try:
    x.add_(paddle.to_tensor([10.0, 10.0]))
except ValueError:
    pass
else:
    raise AssertionError("the in-place op is accepted")
assert x.tolist() == [1.0, 2.0], f"add_ raised, and x is {x.tolist()}; [1, 2] is right"
