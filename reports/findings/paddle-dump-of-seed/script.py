import os
import tempfile

import paddle

x = paddle.to_tensor(3.0, stop_gradient=False)
(g,) = paddle.grad(x, x, create_graph=True)
with tempfile.TemporaryDirectory() as folder:
    paddle.autograd.backward([g], dump_backward_graph_path=folder)
    files = os.listdir(folder)
assert g.stop_gradient or files, "the folder is empty, though g has stop_gradient=False"
