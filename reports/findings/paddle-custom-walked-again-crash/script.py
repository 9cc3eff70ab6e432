import subprocess, sys

CODE = """
import paddle
class Double(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return 2 * x
    @staticmethod
    def backward(ctx, g):
        return 2 * g
x = paddle.to_tensor([1.0], stop_gradient=False)
y = Double.apply(x)
(y * 2).backward(retain_graph=True)
(y * 3).backward()
assert x.grad.item() == 10.0
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
assert done.returncode >= 0, f"dies of signal {-done.returncode}"
if done.returncode != 0:
    raise RuntimeError(done.stderr)
