import paddle

x = paddle.to_tensor(3.0, stop_gradient=False)
h = x * x
y = h + x

(of_h,) = paddle.grad([h], [x], no_grad_vars=[h], retain_graph=True)
(of_y,) = paddle.grad([y], [x], no_grad_vars=[h], retain_graph=True)
(of_both,) = paddle.grad([y, h], [x], no_grad_vars=[h])
total = of_h.item() + of_y.item()
assert of_both.item() == total, f"the gradients {of_h.item()} and {of_y.item()} add up to {of_both.item()}"
