import subprocess
import sys

CODE = """
import paddle

class Split(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return [2 * x, 3 * x], 5 * x

    @staticmethod
    def backward(ctx, listed, last):
        return 2 * listed[0] + 3 * listed[1] + 5 * last

x = paddle.to_tensor([1.0], stop_gradient=False)
(two, three), five = Split.apply(x)
(two + three + five).backward()
assert x.grad.item() == 10.0, x.grad.item()
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
assert done.returncode >= 0, f"dies of signal {-done.returncode}"
if done.returncode != 0:
    raise RuntimeError(done.stderr)
