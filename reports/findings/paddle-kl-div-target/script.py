import paddle

log_p = paddle.log(paddle.to_tensor([0.5, 0.5]))
q = paddle.to_tensor([0.25, 0.75], stop_gradient=False)
loss = paddle.nn.functional.kl_div(log_p, q, reduction="sum")
assert not loss.stop_gradient, "kl_div of a target that requires a gradient does not require one; its slope is log(q) + 1 - log(p)"
