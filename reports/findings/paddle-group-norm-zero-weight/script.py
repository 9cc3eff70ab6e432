import paddle

x = paddle.to_tensor([[1.0, 2.0, 4.0]], stop_gradient=False)
weight = paddle.to_tensor([1.0, 1.0, 0.0], stop_gradient=False)
bias = paddle.zeros([3])

paddle.nn.functional.group_norm(x, num_groups=1, weight=weight, bias=bias).sum().backward()
right = (x - x.mean()) / x.std(unbiased=False)
assert paddle.allclose(weight.grad, right[0], atol=1e-3), (
    f"the gradient of the weight is {weight.grad.tolist()}, and {right[0].tolist()} is right: the sum of what is normalized"
)
