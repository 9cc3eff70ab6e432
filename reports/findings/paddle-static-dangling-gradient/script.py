import subprocess
import sys

CODE = """
import paddle

paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
a, b = paddle.split(x, 2)
(g,) = paddle.static.gradients(b, x)
h, k = paddle.static.gradients(g, [x, b])
print(k)
"""

done = subprocess.run([sys.executable, "-c", CODE], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
assert done.returncode >= 0, f"print() of a variable that gradients() returned dies of signal {-done.returncode}"
if done.returncode != 0:
    sys.exit("another failure")
