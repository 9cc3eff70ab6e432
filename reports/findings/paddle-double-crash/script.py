import subprocess, sys

CODE = """
import paddle
x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
s = paddle.to_tensor([[1.0], [2.0]])
(g,) = paddle.grad(x.t(), x, s, create_graph=True)
g.sum().backward()
assert x.grad is None or not x.grad.any()
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
assert done.returncode >= 0, f"dies of signal {-done.returncode}"
if done.returncode != 0:
    raise RuntimeError(done.stderr)
