import paddle

x = paddle.to_tensor([[[2.0, 1.0], [1.0, 3.0]], [[1.0, 0.5], [0.5, 4.0]]], stop_gradient=False)
weights = paddle.to_tensor([[1.0, 3.0], [2.0, 4.0]])
(g,) = paddle.grad((paddle.linalg.eigvalsh(x) * weights).sum(), x)
got = [round(m.trace().item(), 3) for m in g]
assert got == [4.0, 6.0], f"the traces of the gradients are {got}; [4.0, 6.0], the sums of the weights, are right"
