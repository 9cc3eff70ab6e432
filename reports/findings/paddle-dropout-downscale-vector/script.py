import paddle

x = paddle.to_tensor([1.0, 2.0])
try:
    paddle.nn.functional.dropout(x, 0.5, training=False, mode="downscale_in_infer")
except ValueError as error:
    raise AssertionError("dropout of a vector in evaluation is refused, and [0.5, 1.0] is right") from error
