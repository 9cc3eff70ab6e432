import paddle
import paddle.nn.functional as F

labels = paddle.to_tensor([0.25, 0.75], stop_gradient=False)
for loss in (F.binary_cross_entropy, F.binary_cross_entropy_with_logits):
    y = loss(paddle.to_tensor([0.5, 0.125]), labels)
    assert not y.stop_gradient, f"{loss.__name__} of labels that require a gradient does not require one, and is linear in them"
