import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
answers = []
for outputs in ([x], [x, w]):
    v = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
    (g,) = paddle.grad(outputs, [x], [v, v][: len(outputs)], create_graph=True)
    try:
        paddle.grad((v * v).sum(), [g, v], allow_unused=True)
        answers.append("returns")
    except RuntimeError:
        answers.append("raises")
assert answers[0] == answers[1], f"paddle.grad {answers[0]} for the gradient of [x] in x, and {answers[1]} for that of [x, w]"
