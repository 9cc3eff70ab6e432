import subprocess
import sys

CODE = """
import paddle

x = paddle.zeros([0, 4])
x.stop_gradient = False
c = paddle.zeros([0, 4])
paddle.stack([x, c]).sum().backward()
"""

done = subprocess.run([sys.executable, "-c", CODE], stderr=subprocess.DEVNULL)
assert done.returncode >= 0, f"backward() of a stack of empty tensors dies of signal {-done.returncode}"
if done.returncode != 0:
    sys.exit("another failure")
