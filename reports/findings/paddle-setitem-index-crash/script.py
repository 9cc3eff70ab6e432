import subprocess, sys

CODE = """
import paddle
value = paddle.to_tensor([1 + 2j, 3 - 1j, 2j], dtype="complex128", stop_gradient=False)
x = paddle.zeros([4], dtype="complex128")
x[paddle.to_tensor([3, 0, 1])] = value
(g,) = paddle.grad(x, value, paddle.ones([4], dtype="complex128"))
assert g.tolist() == [1, 1, 1]
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
assert done.returncode >= 0, f"dies of signal {-done.returncode}"
if done.returncode != 0:
    raise RuntimeError(done.stderr)
