import paddle

x, s, u, t = (paddle.to_tensor(number, stop_gradient=False) for number in (2.0, 1.0, 1.0, 5.0))
w = x + x + x
(g,) = paddle.grad(w, x, s, create_graph=True)  # 3 s
(h,) = paddle.grad(g, s, u, create_graph=True)  # 3 u
(k,) = paddle.grad(h, u, t, create_graph=True)  # 3 t
(slope,) = paddle.grad(k, t)

assert k.item() == 15.0, f"another failure: k is {k.item()}, and 3 t is 15"
assert slope.item() == 3.0, f"the derivative of k = 3 t is {slope.item()}, and 3 is right"
