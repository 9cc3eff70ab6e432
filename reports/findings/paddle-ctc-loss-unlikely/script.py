import paddle

x = paddle.to_tensor([[[200.0, 0.0]]])  # one time, one sequence, a blank and a class
lengths = paddle.to_tensor([1])
loss = paddle.nn.functional.ctc_loss(x, paddle.to_tensor([[1]], dtype="int32"), lengths, lengths, reduction="sum").item()
assert abs(loss - 200.0) < 1e-3, f"the loss is {loss}, and 200 is right: the label has the probability exp(-200)"
