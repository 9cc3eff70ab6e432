import paddle

x = paddle.to_tensor([[2.0]], stop_gradient=False)
y = paddle.to_tensor([[4.0]])
found = []
for number in (1.0, -7.0):
    z = paddle.linalg.triangular_solve(x, y)
    [paddle.full([1, 1], number) for _ in range(50)]  # what is freed here is read there
    found.append(paddle.grad(z, x)[0].item())
assert found == [-1.0, -1.0], f"the gradient of 4 / x at x = 2 is {found[0]}, then {found[1]}, and -1 is right"
