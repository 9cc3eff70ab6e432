import paddle
import paddle.nn.functional as F

x = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
losses = F.multi_margin_loss(x, paddle.to_tensor([2, 1]), weight=paddle.to_tensor([1.0, 0.5, 0.5]), reduction="none")
assert losses.shape == [2], f"two samples have the losses {losses.tolist()}"
