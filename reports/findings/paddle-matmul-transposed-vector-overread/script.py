import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
y = paddle.to_tensor([[0.0, 1.0], [2.0, 3.0]], stop_gradient=False)
table = paddle.ones([4, 2])
table.stop_gradient = False

total = (paddle.matmul(x, y, transpose_x=True) + table).sum()
total.backward()
assert total.item() == 52.0
assert x.grad.tolist() == [4.0, 20.0], f"x.grad is {x.grad.tolist()}, and [4, 20] is right"
assert y.grad.tolist() == [[4.0, 4.0], [8.0, 8.0]], f"y.grad is {y.grad.tolist()}, and [[4, 4], [8, 8]] is right"
