import paddle

paddle.enable_static()
x, y, s = paddle.zeros([8, 0]), paddle.zeros([0, 8]), paddle.ones([8, 8])
x.stop_gradient = y.stop_gradient = s.stop_gradient = False
(g,) = paddle.static.gradients(x @ y, x, s)  # s y^T, which has no elements
(h,) = paddle.static.gradients(g, s)

used = [s + number for number in range(8)]  # what lies in memory from run to run
executor = paddle.static.Executor()
for run in range(40):
    found = executor.run(fetch_list=[h, *used])[0]
    assert not found.any(), f"in run {run} the derivative of a gradient without elements has {found[found != 0][0]}, and zeros are right"
