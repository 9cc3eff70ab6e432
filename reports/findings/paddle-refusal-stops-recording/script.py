"""A pass that fails inside a double-grad node switches recording off for the rest of the process."""

import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
value = paddle.to_tensor(3.0, stop_gradient=False)
filled = paddle.masked_fill(x, paddle.to_tensor([True, False]), value)
(g,) = paddle.grad([filled], [value], create_graph=True)
try:
    g.backward()  # refused: grad_x_grad can not be null in 'masked_fill_double_grad'
except ValueError:
    pass

w = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
(w * w).sum().backward()
assert w.grad is not None, f"no gradient; is_grad_enabled() is {paddle.is_grad_enabled()}"  # comes: None, False
assert w.grad.tolist() == [4.0, 6.0]
