import paddle

for order, numbers in (("inf", [2.0, -2.0, 2.0]), ("-inf", [2.0, -2.0, 3.0])):
    x = paddle.to_tensor(numbers, stop_gradient=False)
    (found,) = paddle.grad(paddle.linalg.norm(x, float(order)), x)
    assert found.abs().sum() <= 1, f"the gradient of the norm of the order {order} of {numbers} is {found.tolist()}, which is no subgradient"
