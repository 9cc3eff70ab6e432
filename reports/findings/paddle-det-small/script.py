import paddle

alone = paddle.to_tensor([[2.0, 1.0], [1.0, 1.0]], stop_gradient=False)
both = paddle.to_tensor([[[2.0, 1.0], [1.0, 1.0]], [[0.002, 0.001], [0.001, 0.001]]], stop_gradient=False)
(right,) = paddle.grad(paddle.linalg.det(alone), alone)
(found,) = paddle.grad(paddle.linalg.det(both).sum(), both)
assert paddle.allclose(right, paddle.to_tensor([[1.0, -1.0], [-1.0, 2.0]]))  # the cofactors
assert paddle.allclose(found[0], right), f"beside a small matrix the gradient is {found[0].tolist()}"
