import paddle

lu = paddle.to_tensor([[2.0, 1.0], [0.0, 4.0]], stop_gradient=False)  # L is the identity, and U is all of it
b, pivots = paddle.to_tensor([[2.0], [9.0]]), paddle.to_tensor([1, 2], dtype="int32")
x = paddle.linalg.lu_solve(b, lu, pivots, trans="T")  # 2 x0 = 2, x0 + 4 x1 = 9
found = paddle.grad(x[0], lu)[0].tolist()
assert found[0] == [-0.5, 0], f"x0 = 2 / lu[0, 0] has the derivative -1/2 in lu[0, 0] and 0 in all others, and the gradient is {found}"
