import paddle

x = paddle.to_tensor([1e30], stop_gradient=False)
y = paddle.to_tensor([1e-10], stop_gradient=False)
(g,) = paddle.grad(x / y, x, create_graph=True)
(h,) = paddle.grad(g, y)
assert abs(h.item() / -1e20 - 1) < 1e-5, f"the mixed second derivative is {h.item()}, and -1e20 is right"
