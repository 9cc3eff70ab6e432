import paddle

paddle.enable_static()
x, y, s = (paddle.full([1], value) for value in (3.0, 7.0, 2.0))
x.stop_gradient = y.stop_gradient = s.stop_gradient = False
(g,) = paddle.static.gradients(x * y, [y], [s])  # x s
(h,) = paddle.static.gradients(g, [y], no_grad_set={x})

(found,) = (0.0,) if h is None else paddle.static.Executor().run(fetch_list=[h])[0]
assert found == 0.0, f"the derivative of x s in y is {found}"
