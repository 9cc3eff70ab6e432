import paddle

x = paddle.to_tensor(2.0, stop_gradient=False)
y = x * x
z = y * 3

(of_copy,) = paddle.grad([z, y * 1], [y], retain_graph=True)
assert of_copy.item() == 4.0
(g,) = paddle.grad([z, y], [y])
assert g.item() == 4.0, f"the gradient of z + y with respect to y is {g.item()}, and 4 is right"
