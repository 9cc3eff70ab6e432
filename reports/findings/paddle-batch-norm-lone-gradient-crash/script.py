import subprocess
import sys

CODE = """
import paddle

x = paddle.to_tensor([[1.0], [3.0]])
weight = paddle.to_tensor([2.0])
parameters = paddle.to_tensor([0.5, 1.0], stop_gradient=False)
bias = parameters[0:1]
y = paddle.nn.functional.batch_norm(x, paddle.zeros([1]), paddle.ones([1]), weight, bias, training=True)
y.sum().backward()
"""

done = subprocess.run([sys.executable, "-c", CODE], stderr=subprocess.DEVNULL)
assert done.returncode >= 0, f"backward() of a batch_norm with a frozen weight and a computed bias dies of signal {-done.returncode}"
if done.returncode != 0:
    sys.exit("another failure")
