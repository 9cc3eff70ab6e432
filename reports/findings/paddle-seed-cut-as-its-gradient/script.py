import paddle

x = paddle.to_tensor(3.0, stop_gradient=False)
z = paddle.to_tensor(1.0, stop_gradient=False)
w = x * x
y = w * w + x  # has nothing to do with g
(g,) = paddle.grad(z, z, w)

(h,) = paddle.grad(y, [x], no_grad_vars=[g])
assert h.item() == 109.0, f"the gradient of x^4 + x at 3 is {h.item()} if g is in no_grad_vars, and 109 is right"
