"""Paddle's higher-order table: per op, the highest derivative that it offers where that is less than the third.

Source: the double and triple backward columns of the op universe, observed on paddle 3.3.1: an op without a second derivative
refuses the call with ``create_graph=True`` itself, even if only the first is wanted.
"""

HIGHEST_ORDER = {
    **dict.fromkeys(
        (
            *("amax", "cumsum", "embedding", "flatten", "gelu", "getitem_slice", "log_softmax", "logsumexp", "max", "min"),
            *("pow", "prod", "roll", "softmax", "topk", "tril", "triu"),
        ),
        1,
    ),
    **dict.fromkeys(
        ("clamp", "div", "pad_constant", "relu", "rsqrt", "softplus", "sqrt", "square"),
        2,
    ),
}
