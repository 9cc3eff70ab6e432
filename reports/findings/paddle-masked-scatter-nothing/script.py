import subprocess
import sys

CODE = """
import paddle

x = paddle.to_tensor([1.0, 2.0])
mask = paddle.to_tensor([False, False])
y = paddle.masked_scatter(x, mask, paddle.zeros([0]))
assert y.tolist() == [1.0, 2.0]
"""

done = subprocess.run([sys.executable, "-c", CODE], stderr=subprocess.DEVNULL)
assert done.returncode >= 0, f"masked_scatter of nothing, where the mask is false everywhere, dies of signal {-done.returncode}"
if done.returncode != 0:
    sys.exit("another failure")
