"""A hook returns another dtype, which is refused; a later hook of the tensor runs first, and its error is what comes."""

import paddle


def raises(_: paddle.Tensor) -> None:
    raise KeyError("of the second hook")


x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
x.register_hook(lambda g: g.astype("float64"))
try:
    paddle.square(x).backward(paddle.ones([2]))
except RuntimeError as error:
    print(error)  # hook are not consistent
x.register_hook(raises)
try:
    paddle.square(x).backward(paddle.ones([2]))
except Exception as error:
    print(error)  # of the second hook
    assert "of the second hook" in str(error)
