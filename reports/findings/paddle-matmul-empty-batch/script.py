import paddle

y = paddle.matmul(paddle.ones([3, 2, 1]), paddle.ones([5, 1, 1, 4]))
assert y.shape == [5, 3, 2, 4]

y = paddle.matmul(paddle.ones([3, 2, 0]), paddle.ones([5, 1, 0, 4]))
assert y.shape == [5, 3, 2, 4], f"with an inner length of 0 the shape is {list(y.shape)}, and [5, 3, 2, 4] is right"
