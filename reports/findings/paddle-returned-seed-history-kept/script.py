import paddle

x = paddle.to_tensor(2.0, stop_gradient=False)
z = paddle.to_tensor(1.0, stop_gradient=False)
s = x * x
(g,) = paddle.grad(z, z, grad_outputs=s)  # 4, without a graph
assert g.stop_gradient
(h,) = paddle.grad(3 * z, z, grad_outputs=g, create_graph=True)  # 3 g
(h * x).backward()
assert x.grad.item() == 12.0, f"the gradient of 3 g x is {x.grad.item()}, and 12 is right"
