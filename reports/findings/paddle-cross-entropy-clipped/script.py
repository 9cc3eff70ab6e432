import paddle
import paddle.nn.functional as F

logits = paddle.to_tensor([[0.0, 100.0]])
shares = paddle.to_tensor([[0.5, 0.5]])
loss = F.cross_entropy(logits, shares, soft_label=True).item()
assert loss == 50.0, f"cross_entropy of the logits [0, 100] and the labels [0.5, 0.5] is {loss}, and 50 is right"
