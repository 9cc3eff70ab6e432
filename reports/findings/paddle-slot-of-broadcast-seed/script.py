import paddle

b = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
w = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
s = paddle.ones([3, 2])
s.stop_gradient = False

(c,) = paddle.grad(paddle.ones([3, 2]) + b, b, grad_outputs=s, create_graph=True)
assert c.tolist() == [3.0, 3.0]  # the sums of the columns of s
(e,) = paddle.grad(w * w, w, grad_outputs=c, create_graph=True)
assert e.tolist() == [6.0, 6.0]  # 2 w c
(k,) = paddle.grad(e, s)
assert k.tolist() == [[2.0, 2.0]] * 3, f"the derivative of 2 w c in s is {k.tolist()}, and 2 is right everywhere"
