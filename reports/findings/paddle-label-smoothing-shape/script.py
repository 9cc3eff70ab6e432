import paddle

logits, label = paddle.zeros([4, 3]), paddle.to_tensor([0, 1, 2, 0])
losses = paddle.nn.functional.cross_entropy(logits, label, reduction="none", label_smoothing=0.25)
assert losses.shape == label.shape, f"the losses of labels of the shape {label.shape} have the shape {losses.shape}"
