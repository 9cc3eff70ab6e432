import paddle

x = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
y = x[:, 1:]
n = paddle.narrow(y, 0, 0, 2)
assert n.tolist() == y[0:2].tolist(), f"rows 0 and 1 of {y.tolist()} are said to be {n.tolist()}"
