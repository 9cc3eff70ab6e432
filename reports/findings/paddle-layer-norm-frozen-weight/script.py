import paddle

x = paddle.to_tensor([[1.0, 2.0, 4.0]], stop_gradient=False)
weight = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
bias = paddle.zeros([3])

(right,) = paddle.grad(paddle.nn.functional.layer_norm(x, [3]) * weight, [x])
weight.stop_gradient = True
(found,) = paddle.grad(paddle.nn.functional.layer_norm(x, [3], weight, bias), [x])
assert paddle.allclose(found, right, atol=1e-5), (
    f"the gradient of x behind a frozen weight is {found.tolist()}, and {right.tolist()} is right"
)
