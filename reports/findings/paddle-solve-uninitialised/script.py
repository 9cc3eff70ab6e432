import paddle

a = paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]], stop_gradient=False)
b = paddle.to_tensor([1.0, 1.0])  # data
found = []
for _ in range(2):
    (gradient,) = paddle.grad(paddle.linalg.solve(a, b).sum(), a)
    found.append(gradient.tolist())
right = [[-0.25, -0.125], [-0.125, -0.0625]]
assert found == [right, right], f"the gradient of the sum of the solution in a is {found[0]}, then {found[1]}, and {right} is right"
