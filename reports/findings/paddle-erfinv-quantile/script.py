import paddle

x = paddle.to_tensor([1e-8, 2.0])
y = paddle.erfinv(x).tolist()
right = 0.8862269 * 1e-8  # sqrt(pi) / 2, the slope at 0
assert abs(y[0] - right) < 1e-3 * right and y[1] != float("inf"), f"erfinv of 1e-8 and 2 is {y}; {right} and NaN are right"
