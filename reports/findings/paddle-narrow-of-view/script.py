import paddle

x = paddle.arange(12.0).reshape([6, 2])
rows = x[2:]
got, wanted = paddle.narrow(rows, 0, 1, 2).tolist(), rows[1:3].tolist()
assert got == wanted, f"narrow gives {got}, and slicing {wanted}, which is right"
