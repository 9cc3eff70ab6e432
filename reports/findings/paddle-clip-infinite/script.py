import paddle

x = paddle.to_tensor([float("inf")], stop_gradient=False)
y = paddle.clip(x, min=0.0)
(g,) = paddle.grad(y, x)
got = y.item(), g.item()
assert got == (float("inf"), 1.0), f"clip(inf, min=0) is {got[0]} and its gradient {got[1]}; inf and 1.0 are right"
