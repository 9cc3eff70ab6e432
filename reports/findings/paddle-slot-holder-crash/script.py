import subprocess
import sys

CODE = """
import paddle
x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
(g,) = paddle.grad(paddle.to_tensor([3.0, 2.0]) * x, x, create_graph=True)
for _ in range(20):  # it may die in a later call
    (h,) = paddle.grad(g, g, grad_outputs=paddle.ones([2]), retain_graph=True)
    assert h.tolist() == [1.0, 1.0]
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
assert done.returncode >= 0, f"dies of signal {-done.returncode}"
if done.returncode:
    raise SystemExit(done.stderr)
