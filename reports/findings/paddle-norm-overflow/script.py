import paddle

x = paddle.to_tensor([[1e25, 2e25, 4e25]])
found = paddle.nn.functional.layer_norm(x, (3,)).tolist()[0]
assert found[2] > 1, f"layer_norm of {x.tolist()[0]} is {found}; [-1.07, -0.27, 1.34] is right"
