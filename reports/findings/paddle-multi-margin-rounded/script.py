import paddle

scores = paddle.to_tensor([[1.0, 2.0, 3.0]], dtype="float64")
loss = paddle.nn.functional.multi_margin_loss(scores, paddle.to_tensor([0]), p=2, margin=0.5).item()
right = (1.5**2 + 2.5**2) / 3
assert abs(loss - right) < 1e-14, f"the loss is {loss!r}, and {right!r} is right"
