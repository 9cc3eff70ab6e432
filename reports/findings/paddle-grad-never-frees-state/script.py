import paddle

a = paddle.to_tensor(2.0, stop_gradient=False)
b = paddle.to_tensor(3.0, stop_gradient=False)
h = paddle.exp(a)
y = h * b
paddle.grad(y, [a, b])  # retain_graph=False: frees the graph of y

for tensor in (h, y):
    try:
        tensor.backward()
    except (RuntimeError, SystemError):
        pass
assert b.grad is None, f"y.backward() accumulates {b.grad.item():.2f} into b through a freed graph"
