import paddle

single, double = paddle.ones([2]), paddle.ones([2], dtype="float64")


def message_of(op):
    try:
        op([single, double])
    except ValueError as error:
        return str(error)


assert "input tensor in list" in message_of(paddle.concat)
assert "input tensor in list" in message_of(paddle.stack), "stack does not say that its list has tensors of two dtypes"
