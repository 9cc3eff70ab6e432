import paddle

paddle.enable_static()
calls = []
w = paddle.create_parameter([2], "float32")
loss = paddle.sum(w * w)
paddle.static.append_backward(loss, callbacks=[lambda block, context: calls.append(context)])
assert calls, "append_backward added gradient operators and called no callback"
