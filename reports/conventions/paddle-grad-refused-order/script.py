import paddle

kept = []
for _ in range(200):
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    a, b = paddle.exp(x), paddle.roll(x, 1)
    a.retain_grads()
    try:
        paddle.grad([x, a, b], [x], create_graph=True)
    except RuntimeError:
        kept.append((a.grad is None, x, a, b))
left = [given for given, *_ in kept].count(False)
assert left in (0, 200), f"200 equal calls fail, and {left} of them have left a gradient in a.grad"
