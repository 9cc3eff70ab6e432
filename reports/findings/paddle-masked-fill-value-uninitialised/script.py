import paddle

x = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
mask = paddle.to_tensor([[True, False, True], [False, True, False]])
value = paddle.to_tensor([10.0, 20.0, 30.0], stop_gradient=False)
filled = paddle.masked_fill(x, mask, value)
assert filled.tolist() == [[10.0, 2.0, 30.0], [4.0, 20.0, 6.0]]
(gradient,) = paddle.grad(filled, value, paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
assert gradient.tolist() == [1.0, 5.0, 3.0], f"the gradient in the value is {gradient.tolist()}, and [1, 5, 3] is right"
