import paddle

x = paddle.to_tensor([[1.0], [3.0]])
weight = paddle.to_tensor([2.0])
bias = paddle.to_tensor([0.5], stop_gradient=False)
y = paddle.nn.functional.batch_norm(x, paddle.zeros([1]), paddle.ones([1]), weight, bias, training=True)
y.sum().backward()
assert bias.grad is not None, "the bias has no gradient where the weight is frozen, and [2.0] is right"
