import paddle

x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], stop_gradient=False)
windows = paddle.unfold(x, 0, 2, 1)
assert windows.tolist() == [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]

(g,) = paddle.grad(windows.sum(), x)
assert g.tolist() == [1.0, 2.0, 2.0, 1.0], f"2 and 3 lie in two windows each, and the gradient of the sum is {g.tolist()}"
