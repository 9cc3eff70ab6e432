import subprocess
import sys

CODE = """
import paddle
paddle.enable_static()
x = paddle.static.data("x", [2], "float32")
x.stop_gradient = False
c = paddle.static.data("c", [2], "float32")
v = c + x
(g,) = paddle.static.gradients(paddle.maximum(c, v), x)
try:
    paddle.static.gradients(g, v)
except ValueError:  # op 'pd_op.maximum_grad' has no grad op, which is true
    pass
(g,) = paddle.static.Executor().run(feed={"x": [0.0, 1.0], "c": [1.0, 2.0]}, fetch_list=[g])
assert g.tolist() == [0.5, 1.0], g.tolist()
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
assert done.returncode >= 0, f"the process dies of signal {-done.returncode}"
if done.returncode:
    raise SystemExit(done.stderr)
