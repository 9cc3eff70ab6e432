import subprocess, sys

CODE = """
import paddle
x, y, v = (paddle.to_tensor(n, stop_gradient=False) for n in ([1.0, 1.0], [2.0, 4.0], [1.0, 1.0]))
(g,) = paddle.grad(x / y, y, v, create_graph=True)
(h,) = paddle.grad(g.sum(), v)
assert h.tolist() == [-0.25, -0.0625]
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
assert done.returncode >= 0, f"dies of signal {-done.returncode}"
if done.returncode != 0:
    raise RuntimeError(done.stderr)
