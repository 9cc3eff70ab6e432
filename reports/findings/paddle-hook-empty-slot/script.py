import paddle

x = paddle.zeros([2, 0])
x.stop_gradient = False
a, b = paddle.unbind(x)
b.register_hook(lambda g: None)

try:
    (g,) = paddle.grad([a], [x], grad_outputs=[paddle.zeros([0])])
except SystemError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert g.shape == [2, 0]
