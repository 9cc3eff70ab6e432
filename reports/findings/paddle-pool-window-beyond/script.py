import paddle
import paddle.nn.functional as F

x = paddle.to_tensor([[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]])
means = F.avg_pool1d(x, 2, stride=3, ceil_mode=True)
largest = F.max_pool1d(x, 2, stride=3, ceil_mode=True)
assert means.isfinite().all(), f"the means over windows of six numbers are {means.tolist()}"
assert largest.min() >= 1, f"the largest elements of the same windows are {largest.tolist()}"
