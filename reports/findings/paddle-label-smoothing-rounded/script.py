import math

import paddle

logits = paddle.to_tensor([[0.0, 0.0, 0.0, 8.0]], dtype="float64")
loss = paddle.nn.functional.cross_entropy(logits, paddle.to_tensor([0]), label_smoothing=0.1).item()
right = math.log(3 + math.exp(8.0)) - 0.025 * 8.0
assert abs(loss - right) < 1e-14, f"the loss is {loss!r}, and {right!r} is right"
