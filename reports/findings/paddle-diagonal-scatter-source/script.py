import paddle

y = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
z = paddle.diagonal_scatter(paddle.zeros([2, 2]), y)
assert z.tolist() == [[1.0, 0.0], [0.0, 2.0]]
assert not z.stop_gradient, "a matrix with y on its diagonal does not require a gradient, though y does"
