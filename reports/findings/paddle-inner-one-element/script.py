import paddle

x = paddle.to_tensor([[2.0]])
y = paddle.to_tensor([[3.0], [4.0], [5.0]])
found = list(paddle.inner(x, y).shape)
assert found == [1, 3], f"inner of shapes [1, 1] and [3, 1] has the shape {found}, and [1, 3] is right"
