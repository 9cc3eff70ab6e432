import glob
import tempfile

import paddle

c = paddle.to_tensor([1.0, 2.0])
w = paddle.to_tensor([5.0], stop_gradient=False)
c[0:1] = w
with tempfile.TemporaryDirectory() as folder:
    paddle.autograd.backward([c], dump_backward_graph_path=folder)
    (path,) = glob.glob(f"{folder}/*_backward_graph.dot")
    with open(path) as graph:
        leaves = graph.read().count("GradNodeAccumulation")
assert leaves == 1, f"{leaves} leaves are drawn, and w is the only one"
