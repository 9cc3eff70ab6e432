import subprocess, sys

CODE = """
import paddle
class Both(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return 2 * x, 3 * x
    @staticmethod
    def backward(ctx, g, h):
        return 2 * g + 3 * h
x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
y, _ = Both.apply(x)
(g,) = paddle.grad(y, x)
assert g.tolist() == [2.0, 2.0]
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
assert done.returncode >= 0, f"dies of signal {-done.returncode}"
if done.returncode != 0:
    raise RuntimeError(done.stderr)
