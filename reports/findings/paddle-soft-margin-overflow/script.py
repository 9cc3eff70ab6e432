import paddle

score = paddle.to_tensor([100.0], stop_gradient=False)
loss = paddle.nn.functional.soft_margin_loss(score, paddle.to_tensor([-1.0]))
(gradient,) = paddle.grad(loss, score)
got = loss.item(), gradient.item()
assert got == (100.0, 1.0), f"the loss is {got[0]} and its gradient {got[1]}; 100.0 and 1.0 are right"
