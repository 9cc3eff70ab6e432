import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
c = paddle.to_tensor(3.0)
(g,) = paddle.grad(x @ x + c, x, create_graph=True)
try:
    g.sum().backward()
except ValueError as error:
    raise AssertionError(f"raises ValueError: {str(error).strip().splitlines()[0]}") from None
assert x.grad.tolist() == [2.0, 2.0]
