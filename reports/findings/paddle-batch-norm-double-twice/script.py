import paddle

x = paddle.to_tensor([[1.0], [3.0], [-2.0]], stop_gradient=False)
weight = paddle.to_tensor([2.0], stop_gradient=False)
bias = paddle.to_tensor([0.5], stop_gradient=False)
y = paddle.nn.functional.batch_norm(x, paddle.zeros([1]), paddle.ones([1]), weight, bias, training=True)
grads = paddle.grad((y * y * y).sum(), [x, weight, bias], create_graph=True)
found = []
for _ in range(2):
    x.clear_grad()
    paddle.autograd.backward([g.sum() * g.sum() + (g * g * g).sum() for g in grads], retain_graph=True)
    found.append(x.grad.tolist())
assert found[0] == found[1], f"the same backward twice: {found[0]} and {found[1]}"
