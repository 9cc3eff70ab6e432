import paddle

x = paddle.to_tensor([[0.0, 10.5], [-10.5, 0.0]], dtype="float64")
found = paddle.linalg.matrix_exp(x)[0, 0].item()  # a rotation by 10.5 radians
right = paddle.cos(paddle.to_tensor(10.5, dtype="float64")).item()
assert abs(found - right) < 1e-12, f"matrix_exp has {found}, the cosine is {right}: they differ by {abs(found - right):.1e}"
