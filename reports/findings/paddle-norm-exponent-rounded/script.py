import paddle

x = paddle.to_tensor([100.0, 0.0], dtype="float64")
found = paddle.linalg.norm(x, 3).item()
assert abs(found - 100.0) < 1e-12, f"the 3-norm of (100, 0) in float64 is {found:.12f}, and 100 is right"
