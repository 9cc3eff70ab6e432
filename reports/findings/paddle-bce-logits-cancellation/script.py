import paddle

bce = paddle.nn.functional.binary_cross_entropy_with_logits
x = paddle.to_tensor([-20.0], stop_gradient=False)
target, ones = paddle.to_tensor([0.0]), paddle.to_tensor([1.0])
(weighted,) = paddle.grad(bce(x, target, pos_weight=ones), x)
(plain,) = paddle.grad(bce(x, target), x)
assert weighted.item() == plain.item(), f"the gradient with a pos_weight of 1 is {weighted.item()}; {plain.item()} is right"
