import numpy as np
import paddle

paddle.enable_static()
x, y, s = (paddle.static.data(name, [1], "float32") for name in "xys")
x.stop_gradient = y.stop_gradient = s.stop_gradient = False
(g,) = paddle.static.gradients(x * y, [y], [s])  # x s
(h,) = paddle.static.gradients(g, [y], no_grad_set={x})

fed = {name: np.float32([value]) for name, value in (("x", 3.0), ("y", 7.0), ("s", 2.0))}
(found,) = (0.0,) if h is None else paddle.static.Executor().run(feed=fed, fetch_list=[h])[0]
assert found == 0.0, f"the derivative of x s in y is {found}"
