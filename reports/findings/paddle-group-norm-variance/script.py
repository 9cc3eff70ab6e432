import paddle

x = paddle.to_tensor([[10000.0, 10001.0, 10002.0, 10004.0]])

found = paddle.nn.functional.group_norm(x, num_groups=1)
right = (x - x.mean()) / x.std(unbiased=False)
assert paddle.allclose(found, right, atol=1e-3), (
    f"normalized to {found.tolist()}, and {right.tolist()} is right: the length is {found.norm().item()} instead of 2"
)
