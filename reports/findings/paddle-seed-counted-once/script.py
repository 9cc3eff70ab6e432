import paddle

x = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
s = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
(g,) = paddle.grad(x, x, s, create_graph=True)  # g = s
try:
    paddle.autograd.backward([g, s])
except (AssertionError, RuntimeError):
    pass  # "contains duplicate paddle.Tensor object" is what is documented
else:
    assert s.grad.tolist() == [2.0, 2.0], f"the gradient of g + s is {s.grad.tolist()}, and [2, 2] is right"
