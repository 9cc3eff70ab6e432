import paddle

x = paddle.ones([2, 3, 4, 4])
found = list(paddle.linalg.svdvals(x).shape)
right = list(paddle.linalg.svd(x)[1].shape)
assert found == right, f"svdvals of the shape [2, 3, 4, 4] has the shape {found}, and that of svd is {right}"
