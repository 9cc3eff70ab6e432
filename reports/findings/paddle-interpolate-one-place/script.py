import paddle

x = paddle.to_tensor([[[[1.0, 2.0, 6.0]]]])
found = paddle.nn.functional.interpolate(x, size=[1, 1], mode="bilinear").item()
assert found == 2.0, f"the one point in the middle of 1, 2 and 6 is {found}, and 2 is right"
