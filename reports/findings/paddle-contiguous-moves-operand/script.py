import paddle

b = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
x = b.transpose([1, 0])
x.contiguous()
b.scale_(-1.0)
assert x.tolist() == [[-1.0, -3.0, -5.0], [-2.0, -4.0, -6.0]], f"x is a view of b no longer: b is negated, and x is {x.tolist()}"
