import paddle

x = paddle.full([64], 1e-40)
(alone,) = paddle.sqrt(x[:1]).tolist()
assert abs(alone - 1e-20) < 1e-24
first = paddle.sqrt(x).tolist()[0]
assert abs(first - 1e-20) < 1e-24, f"sqrt(1e-40) is {first} in a tensor of 64 elements, and {alone} in one of 1"
