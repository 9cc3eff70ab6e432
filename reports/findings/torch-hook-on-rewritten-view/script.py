import subprocess
import sys

CODE = """
import torch
p = torch.nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([p], lr=0.1)
v = p[:2]
v.sum().backward()
optimizer.step()
v.register_hook(print)
"""

done = subprocess.run([sys.executable, "-c", CODE])
assert done.returncode >= 0, f"register_hook dies of signal {-done.returncode}"
done.check_returncode()
