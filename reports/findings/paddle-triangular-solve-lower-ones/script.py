import paddle

x = paddle.to_tensor([[2.0, 5.0], [1.0, 3.0]], stop_gradient=False)
y = paddle.to_tensor([[4.0], [1.0]], stop_gradient=False)
z = paddle.linalg.triangular_solve(x, y, upper=False, unitriangular=True)
found = paddle.grad(z.sum(), [x, y])[0].tolist()
assert found[0] == [0, 0] and found[1][1] == 0, f"z depends on x[1, 0] alone, and the gradient of x is {found}"
