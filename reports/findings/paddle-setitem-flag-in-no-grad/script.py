import paddle

c = paddle.to_tensor([1.0, 2.0])
w = paddle.to_tensor([5.0], stop_gradient=False)
with paddle.no_grad():
    c[0:1] = w
assert c.stop_gradient, "stop_gradient of c is False after an assignment inside no_grad"
