import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
h = x.reshape([2, 1])
h.retain_grads()
h.sum().backward()
assert h.grad.tolist() == [[1.0], [1.0]]
(x * 10).sum().backward()  # h has no part in this
assert h.grad.tolist() == [[1.0], [1.0]], f"h.grad is {h.grad.tolist()} after a backward without h, and [[1], [1]] is right"
