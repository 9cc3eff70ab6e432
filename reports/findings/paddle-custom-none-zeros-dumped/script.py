import re
import tempfile
from pathlib import Path

import paddle


class Left(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x, y):
        return paddle.sin(x)

    @staticmethod
    def backward(ctx, g):
        return None, g


x, bias, y = (paddle.to_tensor([number], stop_gradient=False) for number in (1.0, 0.0, 1.0))
z = Left.apply(paddle.nn.functional.linear(x, paddle.to_tensor([2.0]), bias), y)
with tempfile.TemporaryDirectory() as folder:
    paddle.autograd.backward([z], dump_backward_graph_path=folder)
    (path,) = Path(folder).glob("*backward_graph.dot")
    arrows = re.findall(r"(node_\d+)->(node_\d+)", path.read_text())
begun = {tail for tail, _ in arrows} - {head for _, head in arrows}
assert len(begun) == 1, f"the backward of one tensor begins at {len(begun)} nodes: {sorted(begun)}"
