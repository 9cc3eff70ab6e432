import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
v = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
(g,) = paddle.grad(paddle.pow(x, 3.0), x, grad_outputs=v, create_graph=True)  # g = 3 v x**2
try:
    (h,) = paddle.grad(g, v)
except RuntimeError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).split('[Hint:')[-1].split(']')[0].strip()}") from None
assert h.tolist() == [3.0, 12.0], f"the gradient is {h.tolist()}, and [3, 12] is right"
