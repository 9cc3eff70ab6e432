import subprocess
import sys

CODE = """
import paddle

x = paddle.to_tensor([[4.0, 3.0], [0.5, 2.0], [1.0, 0.0]], stop_gradient=False)
q, r = paddle.linalg.qr(x)
(found,) = paddle.grad(r.sum(), x)
"""
done = subprocess.run([sys.executable, "-c", CODE], stderr=subprocess.DEVNULL, timeout=60)
assert done.returncode >= 0, f"the gradient of one of the two factors dies of signal {-done.returncode}"
if done.returncode != 0:
    sys.exit("another failure")
