import paddle

x = paddle.to_tensor(0.5)
y = paddle.nn.functional.hinge_embedding_loss(x, paddle.to_tensor(1.0), reduction="none")
assert y.shape == [], f"the loss of a tensor without axes has the shape {list(y.shape)}; [] is right"
