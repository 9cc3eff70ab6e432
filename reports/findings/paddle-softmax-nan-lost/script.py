import paddle
import paddle.nn.functional as F

x = paddle.to_tensor([[float("inf")] + [0.0] * 7])
shares = F.softmax(x)[0].tolist()
double = F.softmax(x.astype("float64"))[0].tolist()
assert all(share != share for share in shares), f"softmax([inf, 0, ...]) is {shares} in float32, and {double} in float64"
