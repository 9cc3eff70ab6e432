import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
v = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
answers = []
for y in (x, x.clone()):
    (g,) = paddle.grad(y, [x], v, create_graph=True)
    try:
        paddle.grad((v * v).sum(), [g, v], allow_unused=True)
        answers.append("returns")
    except RuntimeError:
        answers.append("raises")
assert answers[0] == answers[1], f"paddle.grad {answers[0]} for the gradient of x, and {answers[1]} for that of x.clone()"
