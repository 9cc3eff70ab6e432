import paddle
import paddle.nn.functional as F

logits = paddle.to_tensor([0.5, -1.0], stop_gradient=False)
labels = paddle.ones([2])
positive = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
loss = F.binary_cross_entropy_with_logits(logits, labels, pos_weight=positive, reduction="sum")
(found,) = paddle.grad(loss, [positive], allow_unused=True)
assert found is not None, f"the loss is {loss.item():.3f}, and does not depend on pos_weight"
assert paddle.allclose(found, -F.log_sigmoid(logits))
