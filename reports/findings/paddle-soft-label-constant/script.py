import paddle
import paddle.nn.functional as F

logits = paddle.to_tensor([[0.0, 1.0]])
labels = paddle.to_tensor([[0.5, 0.5]], stop_gradient=False)
weight = paddle.to_tensor([1.0, 1.0])
loss = F.cross_entropy(logits, labels, weight, soft_label=True, reduction="sum")
(slope,) = paddle.grad(loss, [labels])
written_out = 2 * 0.5 * 1.3132617 + 2 * 0.5 * 0.3132617
assert abs(slope.sum().item() - 2 * written_out) < 1e-5, f"the slopes in the labels are {slope.tolist()}, without those of the entropy"
