import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], stop_gradient=False)
z = paddle.to_tensor([3.0], stop_gradient=False)
cases = {"x.view([2, 2]).t().sum()": x.view([2, 2]).t().sum(), "z.view([])": z.view([])}
for name, y in cases.items():
    try:
        y.backward()
    except ValueError as error:
        said = str(error).strip().splitlines()[-1].partition(" (at ")[0]
        raise AssertionError(f"the backward of {name} raises {type(error).__name__}: {said}") from None
assert x.grad.tolist() == [1.0] * 4 and z.grad.tolist() == [1.0]
