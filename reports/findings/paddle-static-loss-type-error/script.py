"""What append_backward says to a loss that is no variable."""
import paddle

paddle.enable_static()
with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    try:
        paddle.static.append_backward(1.5)
    except Exception as error:
        print(type(error).__name__, error)
