import subprocess
import sys

CODE = """
import paddle

x = paddle.to_tensor([[4.0, 3.0], [0.5, 2.0]], stop_gradient=False)
p, lower, upper = paddle.linalg.lu_unpack(x, paddle.to_tensor([1, 2], dtype="int32"))
(found,) = paddle.grad(upper.sum(), x)
"""
done = subprocess.run([sys.executable, "-c", CODE], stderr=subprocess.DEVNULL, timeout=60)
assert done.returncode >= 0, f"the gradient of one of the two factors dies of signal {-done.returncode}"
if done.returncode != 0:
    sys.exit("another failure")
