import subprocess
import sys

CODE = """
import paddle

x = paddle.full([1, 1, 1, 1, 1], 2.0)
w = paddle.full([1, 1, 1, 1, 1], 3.0)
x.stop_gradient = w.stop_gradient = False
y = x * 2.0
(g,) = paddle.grad(paddle.nn.functional.conv3d(y, w), y, create_graph=True)
(g * g).sum().backward()  # a gradient penalty: w squared
assert w.grad.item() == 6.0
"""
done = subprocess.run([sys.executable, "-c", CODE], stderr=subprocess.DEVNULL)
assert done.returncode >= 0, f"the backward of a gradient penalty through conv3d dies of signal {-done.returncode}"
if done.returncode != 0:
    sys.exit("another failure")
