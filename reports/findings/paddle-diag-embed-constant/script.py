import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
matrix = paddle.diag_embed(x)
assert matrix.tolist() == [[1.0, 0.0], [0.0, 2.0]]
assert not matrix.stop_gradient, "a matrix with x on its diagonal does not require a gradient, though x does"
