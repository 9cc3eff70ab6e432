import paddle

x = paddle.to_tensor(2.0, stop_gradient=False)
y = paddle.to_tensor(3.0, stop_gradient=False)
gx, gy = paddle.grad(x * y, [x, y], create_graph=True)
seen = []
gy.register_hook(lambda grad: seen.append(grad.item()))

gx.backward()  # that is y, which gy has nothing to do with
assert y.grad.item() == 1.0
assert seen == [], f"the hook of the gradient in y is called with {seen}"
