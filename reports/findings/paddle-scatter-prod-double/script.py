import paddle

x = paddle.to_tensor([[2.0, 3.0]], stop_gradient=False)
s = paddle.to_tensor([[5.0, 7.0]], stop_gradient=False)
y = paddle.put_along_axis(x, paddle.to_tensor([[0, 1]]), s, 1, reduce="mul", broadcast=False)  # x * s
(g,) = paddle.grad(y, x, create_graph=True)
assert g.tolist() == [[5.0, 7.0]]
(h,) = paddle.grad(g, s, allow_unused=True)
assert h is not None, "the gradient of x * s in x is s, and its derivative in s is None"
assert h.tolist() == [[1.0, 1.0]]
