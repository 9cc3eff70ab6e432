import paddle

paddle.enable_static()
w = paddle.create_parameter([2], "float32", name="w")
loss = paddle.sum(w * w)
try:
    pairs = paddle.static.append_backward(loss, parameter_list=["w"])
except TypeError as error:
    raise AssertionError(f"raises {type(error).__name__}: {str(error).splitlines()[0]}") from None
assert [parameter.name for parameter, _ in pairs] == ["w"]
