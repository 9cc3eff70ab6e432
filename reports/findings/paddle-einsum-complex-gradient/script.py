import paddle

x = paddle.to_tensor([[1.0, 2.0], [0.0, 1.0]], dtype="complex64", stop_gradient=False)
seed = paddle.to_tensor(1 + 2j, dtype="complex64")
(found,) = paddle.grad(paddle.einsum("ij->", x), x, seed)
(right,) = paddle.grad(x.sum(), x, seed)
assert (found == right).all(), f"the gradient of einsum('ij->', x) is {found[0, 0].item()}, and that of x.sum() is {right[0, 0].item()}"
