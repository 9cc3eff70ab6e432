import paddle

x = paddle.full([8], float("inf"))
(alone,) = paddle.sqrt(x[:1]).tolist()
assert alone == float("inf")
first = paddle.sqrt(x).tolist()[0]
assert first == float("inf"), f"sqrt(inf) is {first} in a tensor of 8 elements, and {alone} in one of 1"
