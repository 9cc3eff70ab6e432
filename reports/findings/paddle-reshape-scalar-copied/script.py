import paddle

x = paddle.to_tensor(1.0)
y = x.reshape([1])
y.scale_(3.0)
assert x.item() == 3.0, f"y = x.reshape([1]) shares data with x, y is now {y.tolist()}, and x is {x.item()}"
