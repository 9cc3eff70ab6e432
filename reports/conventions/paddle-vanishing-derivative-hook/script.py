import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
y = x / paddle.to_tensor([2.0, 4.0])
seen = []
y.register_hook(lambda grad: seen.append(grad.tolist()))

(g,) = paddle.grad(y, x, create_graph=True)  # 1 / c, which does not depend on y
(h,) = paddle.grad((g * x).sum(), x)
assert h.tolist() == [0.5, 0.25]
assert seen == [[1.0, 1.0]], f"the hook of y is called with {seen}, and the first of these calls is right"
