import paddle

paddle.enable_static()
raised = None
try:
    paddle.static.append_backward(1.5)
except (AssertionError, TypeError) as error:
    raised = type(error)
assert raised is AssertionError, f"raises {raised}, and AssertionError is documented"
