import paddle

found = paddle.round(paddle.to_tensor([0.5, 1.5, 2.5, -0.5])).tolist()
assert found == [0.0, 2.0, 2.0, 0.0], f"0.5, 1.5, 2.5 and -0.5 are rounded to {found}"
