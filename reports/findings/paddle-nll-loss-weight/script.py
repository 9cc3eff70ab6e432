import paddle
import paddle.nn.functional as F

logits = paddle.to_tensor([[0.5, -1.0]], stop_gradient=False)
label = paddle.to_tensor([0])
weight = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
(right,) = paddle.grad(F.cross_entropy(logits, label, weight, reduction="sum"), [weight])
loss = F.nll_loss(F.log_softmax(logits), label, weight, reduction="sum")
(found,) = paddle.grad(loss, [weight], allow_unused=True)
assert found is not None, f"nll_loss has no gradient in the weights, and by cross_entropy it is {right.tolist()}"
assert paddle.allclose(found, right)
