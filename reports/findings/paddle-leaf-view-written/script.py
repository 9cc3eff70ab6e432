import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)

try:
    x[0].scale_(3.0)
except ValueError as error:
    assert "inplace" in str(error)
else:
    raise AssertionError(f"the write is accepted, and the leaf x is now {x.tolist()}")
