import subprocess
import sys

CODE = """
import paddle
x = paddle.to_tensor(3.0, stop_gradient=False)
h = x * x
y = h * 5.0 + x * 2.0
(g,) = paddle.grad(y, [x], no_grad_vars=[h])
print(g.item())
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
assert done.returncode >= 0, f"the process dies of signal {-done.returncode}"
if done.returncode:
    raise RuntimeError(done.stderr)
assert done.stdout.strip() == "2.0", f"the gradient is {done.stdout.strip()}, and 2.0 is right"
