import subprocess
import sys

CODE = """
import paddle

image = paddle.ones([1, 1, 2, 2])
grid = paddle.zeros([1, 1, 1, 2])
grid.stop_gradient = image.stop_gradient = False
out = paddle.nn.functional.grid_sample(image, grid)
(found,) = paddle.grad(out, grid)
"""
done = subprocess.run([sys.executable, "-c", CODE], stderr=subprocess.DEVNULL, timeout=60)
assert done.returncode >= 0, f"the gradient of grid_sample in the grid alone dies of signal {-done.returncode}"
if done.returncode != 0:
    sys.exit("another failure")
