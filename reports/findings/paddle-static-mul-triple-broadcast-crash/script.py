import subprocess
import sys

CODE = """
import paddle

paddle.enable_static()
a = paddle.static.data("a", [1], "float32")
b, s = (paddle.static.data(name, [10], "float32") for name in ("b", "s"))
a.stop_gradient = b.stop_gradient = s.stop_gradient = False
ga, gb = paddle.static.gradients(a * b, [a, b], s)
(h,) = paddle.static.gradients([ga, gb], [s])
(k,) = paddle.static.gradients(h, [a])
feed = {"a": [1.0], "b": [1.0] * 10, "s": [1.0] * 10}
paddle.static.Executor().run(feed=feed, fetch_list=[k])
"""

done = subprocess.run([sys.executable, "-c", CODE], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
assert done.returncode >= 0, f"a run of the third derivative of a broadcast product dies of signal {-done.returncode}"
