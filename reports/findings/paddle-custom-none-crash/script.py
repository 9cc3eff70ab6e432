import subprocess, sys

CODE = """
import paddle
class Stop(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return 2 * x
    @staticmethod
    def backward(ctx, g):
        return None
x = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
Stop.apply(x * 3).sum().backward()
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
assert done.returncode >= 0, f"dies of signal {-done.returncode}"
if done.returncode != 0:
    raise RuntimeError(done.stderr)
