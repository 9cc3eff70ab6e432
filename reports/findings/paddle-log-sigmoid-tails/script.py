import paddle

y = paddle.nn.functional.log_sigmoid(paddle.to_tensor([-float("inf"), -1e30])).tolist()
assert y[0] == -float("inf"), f"log_sigmoid of -inf and -1e30 is {y}, and -inf is right"
