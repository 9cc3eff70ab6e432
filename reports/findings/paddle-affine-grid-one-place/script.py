import paddle

theta = paddle.to_tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
found = paddle.nn.functional.affine_grid(theta, [1, 1, 1, 2], align_corners=True)
assert found.tolist() == [[[[-1.0, 0.0], [1.0, 0.0]]]], f"the grid of an image of one row is {found.tolist()}"
