import subprocess
import sys

CODE = """
import paddle
x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
loss = x.sum()
loss.register_hook(lambda g: paddle.ones_like(g))
(g,) = paddle.grad(loss, [x], create_graph=True)
(g * x).sum().backward()
print(x.grad.tolist())
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
assert done.returncode >= 0, f"the process dies of signal {-done.returncode}"
if done.returncode:
    raise RuntimeError(done.stderr)
assert done.stdout.strip() == "[1.0, 1.0]", f"the gradient is {done.stdout.strip()}, and [1.0, 1.0] is right"
