"""Conditional faults: engines that are wrong only where a condition holds, put around any engine.

A wrong rule is wrong wherever it is called. The bug of a real kernel waits: for a last block that is not full, a transposed seed, the
second pass over a graph. So a fault here is a sentence of three words: a *part* of the engine (an op, or a call of autograd), a
*condition*, and an *effect*. `Carrier` is an engine that asks another one everything, and has the effect where the condition holds;
where it does not, the other engine has answered alone. The sentences are data (`table_of_ops`, `table_of_calls`), and what is
underneath may be the reference, PyTorch, or Paddle.
"""
