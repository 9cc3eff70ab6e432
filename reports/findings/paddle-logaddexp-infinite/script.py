import paddle

inf = float("inf")
x = paddle.to_tensor([inf, -inf])
y = paddle.logaddexp(x, x).tolist()
assert y == [inf, -inf], f"logaddexp of [inf, -inf] with itself is {y}"
