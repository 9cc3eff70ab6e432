import paddle

x = paddle.to_tensor([-1.0])
assert paddle.digamma(x).isnan().item()
found = paddle.polygamma(x, 2).item()
assert found != found, f"polygamma of order 2 is {found} at -1, and digamma is NaN there"
