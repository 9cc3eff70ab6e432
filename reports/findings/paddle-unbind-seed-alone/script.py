import paddle

x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], stop_gradient=False)
a, b, c = paddle.unbind(x)
s, t = paddle.to_tensor([5.0, 7.0]), paddle.to_tensor([-3.0, 2.0])
g, h = paddle.grad([a * 2, c], [x, a], grad_outputs=[s, t])
assert h.tolist() == [10.0, 14.0], f"the gradient in a is {h.tolist()}, and [10, 14] is right; t is now {t.tolist()}"
assert g.tolist() == [[10.0, 14.0], [0.0, 0.0], [-3.0, 2.0]], f"the gradient in x, of shape [3, 2], is {g.tolist()}"
