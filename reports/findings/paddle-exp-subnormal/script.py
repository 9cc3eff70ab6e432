import paddle

y = paddle.exp(paddle.full([9], -float("inf"))).tolist()
assert y == [0.0] * 9, f"exp(-inf) is {y[0]} in the first element and {y[8]} in the last, and 0 is right"
