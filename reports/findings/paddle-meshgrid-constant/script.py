import subprocess
import sys

CODE = """
import paddle

x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
a, b = paddle.meshgrid(x, paddle.to_tensor([3.0]))
(a + b).sum().backward()
assert x.grad.tolist() == [1.0, 1.0]
"""
done = subprocess.run([sys.executable, "-c", CODE], stderr=subprocess.DEVNULL)
assert done.returncode >= 0, f"the backward of meshgrid of a constant dies of signal {-done.returncode}"
if done.returncode != 0:
    sys.exit("another failure")
