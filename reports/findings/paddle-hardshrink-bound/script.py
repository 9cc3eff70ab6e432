import paddle
import paddle.nn.functional as F

y = F.hardshrink(paddle.to_tensor([0.5, -0.5]), threshold=0.5)
assert y.tolist() == [0.0, 0.0], f"hardshrink at the threshold is {y.tolist()}, and [0, 0] is documented"
