"""The odds of the profiles: what `conformance.generate.odds` is for the usual scripts, in the same words."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.generate.odds import CallOdds, Range


@dataclass(frozen=True, slots=True)
class DeepOdds:
    """Scripts of the profile `deep`: graphs of thousands of nodes. Ops are cheap there, and how many there are is all that matters."""

    #: About so many steps: what recurses ends its process from some thousand nodes on, what is quadratic shows from some hundred on.
    steps: tuple[int, ...] = (600, 600, 1200, 1200, 2500, 5000)
    parts: Range = Range(1, 4)  #: Parts that a graph is put together of, each as large as the others.
    #: Which part: one long path; one value that many use; a sum to which one value is added again and again; a recurrence, of whose
    #: members two later ones use each; forks that meet again. Of the last two there are more paths than anybody can walk one by one.
    part: tuple[str, ...] = ("chain", "fan", "comb", "recurrence", "diamonds")
    from_leaf: float = 0.3  #: A part begins at a leaf, not where the part before it ended: the leaf's gradient has parts of both.
    ranks: tuple[int, ...] = (1, 2, 0, 3)  #: Numbers of axes: shapes show more elsewhere, and elements only cost here.
    lengths: tuple[int, ...] = (2, 3, 1)  #: Lengths of an axis.
    most_elements: int = 262144  #: In the place of the bound for usual scripts: a fan of thousands is joined.
    constant: float = 0.2  #: The second leaf is a constant.
    #: A link of a chain: each is exact, and most keep nothing for their gradient, so that a graph that was freed is not refused for it.
    links: tuple[str, ...] = ("neg", "neg", "shift", "scale", "scale", "clone", "flip", "roll", "transpose", "reshape")
    up: float = 0.5  #: A chain is scaled up, not down, where it may be either: it stays within a factor of two.
    #: The numeric lane goes through a function and its inverse: second derivatives of a chain are not 0 then.
    curved: float = 0.1
    minus: float = 0.5  #: A member of a sum is subtracted, not added.
    #: By so many at most the members of one sign are ahead: sums of thousands stay small, whatever the order they are taken in.
    balance: int = 6
    themselves: float = 0.3  #: A member of a fan that is added is the value itself: its gradient has contributions without a node.
    join: tuple[str, ...] = ("add", "stack", "cat", "halves")  #: How a fan is joined: one by one, by one op, or by halves of halves.
    unjoined: float = 0.2  #: The members of a fan are roots of a call as well, all of them together.
    #: A fork: two halves, the double and the negative, or the slices of a tensor.
    diamond: tuple[str, ...] = ("halves", "twice", "parts")
    product: float = 0.5  #: What is differentiated is multiplied by another value first: otherwise most have no second derivative.
    summed: float = 0.4  #: The root is summed first, as a loss is.
    last: float = 0.7  #: The root is where the graph ends, not where some part of it does.
    hooks: Range = Range(0, 2)  #: Hooks somewhere in the graph.
    scaled: float = 0.5  #: A hook turns the gradient over; otherwise it only looks.
    retained: Range = Range(0, 2)  #: Values somewhere in the graph that keep their gradient.
    few: Range = Range(0, 2)  #: Values somewhere in the graph that a call is asked for beside the leaves.
    episodes: Range = Range(1, 2)  #: How often the graph is differentiated.
    second_order: float = 0.4  #: A derivative is differentiated, where that is not too much.
    #: Of so many steps at most: the graph of a derivative is twice as large as that of which it is.
    second_within: int = 1500
    by_backward: float = 0.6  #: ``backward`` rather than ``grad``: gradients of leaves accumulate.
    again: float = 0.4  #: The same call comes again: it accumulates, or is refused where the graph was freed.
    retain: float = 0.7  #: The graph is kept.


@dataclass(frozen=True, slots=True)
class ModelOdds:
    """Scripts of the profile `model`: small models, put together of the blocks that public ones have, and what training does."""

    images: float = 0.4  #: A model of images; otherwise one of sequences.
    batch: tuple[int, ...] = (2, 1, 3)  #: Samples; a batch of one is where means of batches are not what they seem.
    positions: tuple[int, ...] = (3, 2, 4)  #: Positions of a sequence.
    width: tuple[int, ...] = (4, 2)  #: Features of a position: two heads must divide them.
    heads: tuple[int, ...] = (2, 1)  #: Heads of attention.
    words: tuple[int, ...] = (5, 3)  #: Rows of an embedding: fewer than positions of a batch, so that some come twice.
    channels: tuple[int, ...] = (2, 4, 3)  #: Channels of an image.
    sides: tuple[int, ...] = (4, 3, 5)  #: Height and width of an image.
    kernels: tuple[int, ...] = (3, 1, 2)  #: Height and width of the kernel of a convolution.
    strides: tuple[int, ...] = (1, 1, 2)  #: Its stride.
    blocks: Range = Range(1, 3)  #: Blocks between the beginning and the head.
    block: tuple[str, ...] = ("attention", "perceptron")  #: A block of a model of sequences.
    attention: tuple[str, ...] = ("formula", "formula", "op")  #: Attention by products and a softmax, or by the op for it.
    causal: float = 0.5  #: A position sees none that comes later.
    masked: float = -100.0  #: What a score is where a position is not seen: far below all others, and not infinite.
    #: Norms of features, by what is normalized: none is there, too.
    norm: tuple[str, ...] = ("layer_norm", "layer_norm", "layer_norm_noaffine", "none")
    image_norm: tuple[str, ...] = ("batch_norm_train", "batch_norm_eval", "group_norm", "instance_norm", "none")  #: Norms of channels.
    before: float = 0.6  #: A norm comes before its block, inside the residual connection; otherwise behind the sum.
    added: tuple[float, ...] = (1e-5, 1e-3)  #: What norms add to variances.
    #: Activations, those first that have no roundings.
    activation: tuple[str, ...] = ("relu", "leaky_relu", "gelu", "silu", "tanh", "hardswish", "elu", "softplus")
    residual: float = 0.8  #: A block adds to what it was given.
    dropout: float = 0.25  #: Dropout in evaluation.
    share: float = 0.25  #: What it would leave out.
    pool: tuple[str, ...] = ("max_pool2d", "avg_pool2d", "adaptive_avg_pool2d", "none")  #: Pooling after a convolution.
    depthwise: float = 0.25  #: A convolution of each channel by itself.
    embedded: float = 0.6  #: A sequence is one of words; otherwise of features.
    tied: float = 0.3  #: The head of a model of words is its embedding.
    shared: float = 0.15  #: A parameter is one that another block has already, where one fits.
    frozen: float = 0.1  #: A parameter is not trained.
    of_data: float = 0.5  #: Features of a model are differentiated as well.
    classes: tuple[int, ...] = (3, 2)  #: Classes, or numbers, that a head has.
    #: Losses, of which the first has no roundings.
    loss: tuple[str, ...] = ("square", "cross_entropy", "cross_entropy", "nll_loss", "mse_loss", "smooth_l1_loss", "bce", "kl_div")
    reductions: tuple[str, ...] = ("mean", "sum", "none")  #: How a loss reduces.
    targets: tuple[float, ...] = (1.0, 0.0, 0.5)  #: Numbers of targets that are no classes.
    scaled: float = 0.3  #: The loss is scaled, as where gradients of two batches are to be their mean.
    scale: float = 0.5  #: By so much.
    penalty: float = 0.3  #: The squares of a gradient are added to the loss, and differentiated with it.
    by_backward: float = 0.6  #: ``backward`` rather than ``grad``.
    second_batch: float = 0.4  #: A second batch goes through the same model, and its gradients accumulate.
    clear: float = 0.3  #: Between two batches gradients are cleared.
    zeros: float = 0.3  #: Cleared means zeros, not absent.
    again: float = 0.15  #: The same call comes again, on a graph that is freed.
    retain: float = 0.3  #: The graph is kept.
    asked: Range = Range(1, 4)  #: How many parameters a ``grad`` call is asked for.


#: Calls without mistakes, since what is refused at one order has no other; seeds that are differentiated as well.
RIGHT_CALLS = CallOdds(
    no_seeds_for_single=0.1,
    no_seeds=0.0,
    null_seed_for_single=0.0,
    null_seed=0.0,
    seed_shape=0.0,
    seed_precision=0.0,
    seed_kind=0.0,
    seed_count=0.0,
    shared_seed=0.1,
    existing_seed=0.05,
    computed_seed=0.0,
    tracked_seed=1.0,
)


@dataclass(frozen=True, slots=True)
class OrdersOdds:
    """Scripts of the profile `orders`: a few ops, each to the third order."""

    #: So many ops stand in one script: a gradient hangs on all that it goes through, and a graph of six costs less than six graphs.
    together: int = 6
    complexes: float = 0.12  #: A script over complex tensors, where the op takes them.
    #: A script has constants: an op of nine operands would hardly ever be without one, and what is known of constants hides the rest.
    constants: float = 0.5
    constant: float = 0.2  #: There an operand is a constant: rules leave its slot out, and there is less to differentiate.
    before: Range = Range(0, 1)  #: Ops before those that the script is about: their operands are leaves, or computed.
    applied: Range = Range(2, 4)  #: So often each op is applied: to other values, or to what it or another one made.
    fresh_operand: float = 0.6  #: A fresh input although a value would do: leaves of its own are gradients of its own.
    after: Range = Range(0, 1)  #: Ops behind each: its cotangent is a seed, or computed.
    #: Ops that may stand beside it: all have derivatives of every order, and keep numbers moderate.
    beside: tuple[str, ...] = ("mul", "add", "sub", "neg", "mul", "sin", "tanh")
    #: So many leaves at most are asked for: all of three recurrent layers, since Paddle refuses the gradients of some of their weights.
    asked: int = 48
    first: Range = Range(2, 3)  #: So many first calls without a graph, each of what one op made.
    #: Such a call asks for one leaf: a wrong gradient of one operand hides the others, and a rule may depend on what is asked for.
    alone: float = 0.3
    again: Range = Range(3, 4)  #: So many gradients of what an op made are differentiated, each in a call of its own.
    calls: CallOdds = RIGHT_CALLS  #: The seeds of the calls.


DEEP = DeepOdds()
ORDERS = OrdersOdds()
MODEL = ModelOdds()
