import subprocess
import sys

CODE = """
import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
s = paddle.full([], 1.0)
x.stop_gradient = s.stop_gradient = False
data = paddle.static.data("data", [2], "float32")
(g,) = paddle.static.gradients(paddle.matmul(x, data), [x], [s])
(h,) = paddle.static.gradients(g, [s])
(h,) = paddle.static.Executor().run(feed={"x": [1.0, 2.0], "data": [3.0, 4.0]}, fetch_list=[h])
assert h == 7.0, h
"""

done = subprocess.run([sys.executable, "-c", CODE], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
assert done.returncode >= 0, f"a run of the second derivative of a dot product dies of signal {-done.returncode}"
if done.returncode != 0:
    sys.exit("another failure")
