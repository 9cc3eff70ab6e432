import paddle

x = paddle.ones([1], dtype="float64")
y = paddle.nn.functional.selu(x).item()
assert abs(y - 1.0507009873554805) < 1e-15, f"selu of 1 in float64 is {y!r}, and 1.0507009873554805 is documented"
