import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
h = paddle.exp(x).unsqueeze(0)
_, g = paddle.grad(h.sum(), [x, h])
assert g.tolist() == [[1.0, 1.0]], f"the gradient of h.sum() with respect to h is {g.tolist()}, and [[1, 1]] is right"
