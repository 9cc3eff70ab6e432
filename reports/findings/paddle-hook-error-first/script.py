import paddle


def second(g):
    raise KeyError("second hook")


x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
x.register_hook(lambda g: g.cast("float64"))
x.register_hook(second)

try:
    (x * x).sum().backward()
except Exception as error:
    assert "not consistent" in str(error), f"what comes is {str(error).splitlines()[0]}"
