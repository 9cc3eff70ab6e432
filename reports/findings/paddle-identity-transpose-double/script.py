import paddle

x = paddle.to_tensor([[1.0]], stop_gradient=False)
y = paddle.sqrt(paddle.transpose(paddle.sqrt(x), [0, 1]))  # x ** 0.25

(g,) = paddle.grad(y, [x], create_graph=True)
assert g.item() == 0.25
(h,) = paddle.grad(g, [x])
assert abs(h.item() + 0.1875) < 1e-5, f"the second derivative is {h.item()}, and -0.1875 is right"
