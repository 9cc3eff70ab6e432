import subprocess
import sys

CODE = """
import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
c = paddle.static.data("c", [2], "float32")
y = paddle.square(paddle.concat([x, c]))
(g,) = paddle.static.gradients(y, x)
(h,) = paddle.static.gradients(g, x)
"""

done = subprocess.run([sys.executable, "-c", CODE], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
assert done.returncode >= 0, f"the second gradients() through concat dies of signal {-done.returncode}"
if done.returncode != 0:
    sys.exit("another failure")
