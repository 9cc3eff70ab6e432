import paddle

value = paddle.to_tensor([1.0, 2.0, 3.0], dtype="float64", stop_gradient=False)
x = paddle.zeros([4], dtype="float64")
x[paddle.to_tensor([3, 0, 1])] = value
(gradient,) = paddle.grad(x, value, paddle.to_tensor([10.5, 20.5, 30.5, 40.5], dtype="float64"))
assert gradient.tolist() == [40.5, 10.5, 20.5], f"the gradient in the value is {gradient.tolist()}, and [40.5, 10.5, 20.5] is right"
