import paddle

bce = paddle.nn.functional.binary_cross_entropy_with_logits
loss = bce(paddle.to_tensor([float("inf")]), paddle.to_tensor([1.0])).item()
assert loss == 0.0, f"the loss is {loss}; 0.0 is right, since sigmoid(inf) is the target 1"
