import paddle
import paddle.nn.functional as F

x = paddle.to_tensor([[1.0]])


def distance(a, b):
    return (a - b).abs().sum(-1)


try:
    loss = F.triplet_margin_with_distance_loss(x, x, x + 1.0, distance_function=distance, reduction="none").item()
except ValueError as error:
    raise AssertionError(f"an anchor that is its positive raises {error}") from None
assert loss == 0.0
