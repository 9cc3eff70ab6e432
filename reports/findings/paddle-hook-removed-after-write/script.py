import paddle

called = []
x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
y = x * 3.0
first = y.register_hook(lambda g: called.append("first"))
y.scale_(2.0)
y.register_hook(lambda g: called.append("second"))

first.remove()
y.sum().backward()
assert called == ["second"], f"called after the first was removed: {', '.join(called)}"
