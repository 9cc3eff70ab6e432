import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
s = x * x
s.stop_gradient = True
(g,) = paddle.grad(3 * x, x, grad_outputs=s, create_graph=True)  # 3 s
(x * g).sum().backward()
assert x.grad.tolist() == [3.0, 12.0], f"the gradient is {x.grad.tolist()}, and [3, 12] is right"
