import paddle
import paddle.nn.functional as F

x = paddle.to_tensor([[0.0, 100.0]])
loss = F.cross_entropy(x, paddle.to_tensor([0])).item()
assert loss == 100.0, f"cross_entropy is {loss}, and 100 is right"
assert F.log_softmax(x).tolist() == [[-100.0, 0.0]]
