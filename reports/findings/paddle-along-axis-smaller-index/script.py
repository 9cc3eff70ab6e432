import paddle

x = paddle.to_tensor([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], stop_gradient=False)
index = paddle.to_tensor([[[0]], [[1]]])
taken = paddle.take_along_axis(x, index, 2, broadcast=False)
put = paddle.put_along_axis(x, index, paddle.to_tensor([[[10.0]], [[20.0]]]), 2, broadcast=False)
(gradient,) = paddle.grad(taken.sum(), x)
found = [taken.flatten().tolist(), put.flatten().tolist(), gradient.flatten().tolist()]
right = [[1, 6], [10, 2, 3, 4, 5, 20, 7, 8], [1, 0, 0, 0, 0, 1, 0, 0]]
assert found == right, f"what is taken, what is put, and the gradient are {found}, and {right} is right"
