import subprocess
import sys

CODE = """
import paddle
paddle.enable_static()
x, s, t, c = (paddle.static.data(name, [2], "float32") for name in "xstc")
x.stop_gradient = s.stop_gradient = t.stop_gradient = False
(g,) = paddle.static.gradients(x + c, x, s)  # s
(h,) = paddle.static.gradients(g, s, t)  # t
(k,) = paddle.static.gradients(h, t)  # ones
feed = {name: [1.0, 2.0] for name in "xstc"}
(k,) = paddle.static.Executor().run(feed=feed, fetch_list=[k])
assert k.tolist() == [1.0, 1.0], k.tolist()
"""
done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
assert done.returncode >= 0, f"the process dies of signal {-done.returncode}"
if done.returncode:
    raise SystemExit(done.stderr)
