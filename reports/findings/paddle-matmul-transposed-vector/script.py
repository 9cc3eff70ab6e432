import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
y = paddle.to_tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 4.0]], stop_gradient=False)
product = paddle.matmul(x, y, transpose_x=True)
assert product.tolist() == [5.0, 14.0]
try:
    product.sum().backward()
except RuntimeError as error:
    raise AssertionError(f"the gradient of a product that was computed is refused: {str(error).splitlines()[-1]}")
assert x.grad.tolist() == [1.0, 3.0, 4.0]
