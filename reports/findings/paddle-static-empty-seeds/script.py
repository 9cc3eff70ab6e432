import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
y, z = x * x, x * 3

accepted = []
for too_short in ([x], []):
    try:
        paddle.static.gradients([y, z], x, too_short)
    except ValueError:
        continue
    accepted.append(len(too_short))
assert not accepted, f"target_gradients of length {accepted[0]} is accepted for two targets"
