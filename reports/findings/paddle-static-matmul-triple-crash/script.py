import subprocess
import sys

CODE = """
import paddle

paddle.enable_static()
x = paddle.static.data("x", [1, 1], "float32")
s = paddle.static.data("s", [1, 1], "float32")
x.stop_gradient = s.stop_gradient = False
data = paddle.static.data("data", [1, 1], "float32")
(g,) = paddle.static.gradients(paddle.matmul(x, data), [x], [s])
(h,) = paddle.static.gradients(g, [s])
paddle.static.gradients(h, [s])
"""

done = subprocess.run([sys.executable, "-c", CODE], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
assert done.returncode >= 0, f"gradients() of a second derivative of matmul dies of signal {-done.returncode}"
