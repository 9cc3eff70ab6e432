import paddle

x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
s = paddle.to_tensor(1.5, stop_gradient=False)

(g,) = paddle.grad(x @ x - paddle.to_tensor(1.0), x, s, create_graph=True)
assert g.tolist() == [6.0, 9.0]  # 2 x s
(h,) = paddle.grad(g.sum(), s, allow_unused=True)
assert h is not None, "the gradient of the sum of 2 x s in s is None, and 10 is right"
