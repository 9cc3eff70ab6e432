import paddle

x, value = paddle.zeros([2]), paddle.to_tensor(3.0, stop_gradient=False)
y = paddle.index_fill(x, paddle.to_tensor([0, 0]), 0, value)
(g,) = paddle.grad(y.sum(), value)
assert g.item() == 1, f"index_fill with the index [0, 0] is {y.tolist()}, and its gradient in the value {g.item()}; 1 is right"
