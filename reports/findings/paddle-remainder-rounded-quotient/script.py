import paddle

x = paddle.to_tensor(0.5, dtype="float64")
y = paddle.to_tensor(0.1, dtype="float64", stop_gradient=False)
left = paddle.remainder(x, y)
(slope,) = paddle.grad(left, [y])
times = round((0.5 - left.item()) / 0.1)
assert slope.item() == -times, f"remainder took 0.1 out of 0.5 {times} times, and its slope in 0.1 is {slope.item()}"
