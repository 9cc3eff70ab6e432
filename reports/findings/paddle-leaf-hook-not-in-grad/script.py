import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
x.register_hook(lambda g: g * 10)

(x * x).sum().backward()
assert x.grad.tolist() == [20.0, 40.0]
(g,) = paddle.grad((x * x).sum(), [x])
assert g.tolist() == [20.0, 40.0], f"paddle.grad returns {g.tolist()} without calling the hook of x"
