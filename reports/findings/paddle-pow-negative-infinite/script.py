import paddle

x = paddle.full([8], float("-inf"))
(alone,) = paddle.pow(x[:1], 3.0).tolist()
assert alone == float("-inf")
first = paddle.pow(x, 3.0).tolist()[0]
assert first == float("-inf"), f"(-inf)**3 is {first} in a tensor of 8 elements, and {alone} in one of 1"
