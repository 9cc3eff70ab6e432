import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
r = paddle.ones([2])
h = x * x
h.register_hook(lambda g: r)

paddle.grad(h * h, [h], create_graph=True)
assert r.stop_gradient is True, "r.stop_gradient was True and is False after paddle.grad"
