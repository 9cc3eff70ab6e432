import paddle

x = paddle.to_tensor([float("inf")])
found = paddle.polygamma(x, 1).item()
assert found == 0.0, f"polygamma of order 1 at infinity is {found}, and 0 is right"
