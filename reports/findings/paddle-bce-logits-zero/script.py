import paddle

label = paddle.to_tensor([0.25, 0.25])
logit = paddle.to_tensor([0.0, 1e-6], stop_gradient=False)
loss = paddle.nn.functional.binary_cross_entropy_with_logits(logit, label, reduction="sum")
(gradient,) = paddle.grad(loss, logit)
at_zero, beside = gradient.tolist()
assert abs(beside - 0.25) < 1e-5
assert abs(at_zero - 0.25) < 1e-5, f"the gradient at the logit 0 is {at_zero}, and sigmoid(0) - 0.25 = 0.25 is right"
