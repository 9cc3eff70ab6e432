import paddle

x = paddle.to_tensor([[[0.0, 1.0, 2.0]]], dtype="float64")
y = paddle.nn.functional.interpolate(x, size=[5], mode="linear", data_format="NCW")
found = y[0, 0, 1].item()
assert abs(found - 0.4) < 1e-15, f"the second of five points between 0, 1 and 2 in float64 is {found}, and 0.4 is right"
