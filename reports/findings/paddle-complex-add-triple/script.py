import paddle

x, y, s, t, u = (paddle.to_tensor([1 + 0j, 2 + 0j], stop_gradient=False) for _ in range(5))
(g,) = paddle.grad(x + y, x, s, create_graph=True)
(h,) = paddle.grad(g, s, t, create_graph=True)
try:
    (k,) = paddle.grad(h, t, u)
except SystemError as error:
    raise AssertionError(f"raises SystemError: {str(error).strip().splitlines()[0]}") from None
assert k.tolist() == [1 + 0j, 2 + 0j], f"the gradient is {k.tolist()}, and u is right"
