"""What the switches of a `Dialect` mean, in words: one `Switch` for each field.

These are the documented differences between the frameworks, for people who port models or write engines (`conformance dialects`). A
field without its switch, a value without its words and a switch without its case in `conformance.clauses.dialects` fail a test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference_impl.dialects.switch import Switch

if TYPE_CHECKING:
    from collections.abc import Mapping


def _switches(**words: Any) -> tuple[Switch, ...]:
    return tuple(Switch(field, *said) for field, said in words.items())


GROUPS: Mapping[str, tuple[Switch, ...]] = {
    "Roots and seeds": _switches(
        containers=(
            "In which containers are several tensors handed over, and what does grad answer with?",
            {"iterables": "in any iterable; a tuple, or a dict for a dict", "lists": "in a list or a tuple; a list"},
            "both documents; measured, rows S09, I10-I12",
        ),
        implicit_seed=(
            "What seeds a root that is given no seed?",
            {
                "one_real_element": "ones if it has one element, a real one; others are refused",
                "ones": "ones of its shape, in any case",
            },
            "both documents; measured, rows S01-S06, S16, S72",
        ),
        duplicates=(
            "May a tensor stand twice among the roots, or twice among the inputs?",
            {"summed": "yes: a root counts twice, an input is answered twice", "refused": "no, that is an error"},
            "Paddle's document, for the roots; measured, rows D01-D06",
        ),
    ),
    "Inputs of grad": _switches(
        unreached=(
            "What is the gradient of an input that the outputs do not depend on?",
            {"absent": "None, where allow_unused allows it", "zeros": "zeros of its shape, and nothing has to be allowed"},
            "both documents; zeros are what functional engines answer (jax.vjp, autograd.make_vjp)",
        ),
        only_inputs=(
            "What does only_inputs=False do?",
            {"ignored": "nothing; the parameter is deprecated", "required": "the call is refused: not supported yet"},
            "both documents; measured, row I59",
        ),
        inputs_run_their_node=(
            "Does backward(inputs=) also run, and free, the node that made a computed input?",
            {True: "yes; documented as a detail that one should not rely on", False: "no"},
            "PyTorch's document; measured, row I38",
            "backward.inputs",
        ),
        not_offered=(
            "Which parameters does only the other framework have?",
            {True: "{names}", False: "none"},
            "the signatures; measured, rows I26-I58, N01-N26",
        ),
    ),
    "Graph lifetime": _switches(
        static=(
            "Is a script run as it is read, or written as a program first and run afterwards?",
            {
                False: "as it is read",
                True: "as a program: nothing is freed, and an input that cannot be reached is absent, never an error",
            },
            "Paddle's documents of append_backward and gradients",
        ),
        freed_refuses=(
            "Which nodes of a freed graph refuse to run again?",
            {
                "saved": "those that had saved tensors: add, neg, sum, reshape, cat, cast go on working",
                "executed": "every node that ran",
                "nothing": "none: nothing is freed",
            },
            "both documents, for the graph as a whole; measured, rows L04, L5-*, L6-*",
        ),
        promotion=(
            "How does an operand get the dtype of a wider one beside it (real beside complex, float32 beside float64)?",
            {
                "inside": "inside the op, unless the wider one has no axes",
                "cast_first": "by a cast before it, a node, unless the wider one has no axes; an op of a list of tensors has one dtype",
                "cast_to_widest": "by a cast before the op, whatever has axes, as in NumPy 2",
            },
            "PyTorch's document of tensor attributes; NumPy's NEP 50; measured: the cast is refused where it was freed",
        ),
        spelled=(
            "Which ops are made of other ops, and are freed and refused as those are?",
            {True: "{names}", False: "none of those that the suite draws"},
            "measured, op by op",
        ),
        joined=(
            "Of which ops are the gradients of all operands, under create_graph, made and freed as one?",
            {True: "{names}", False: "none"},
            "measured, op by op: their grad_fn is one node",
        ),
        hidden=(
            "Of which ops are gradients, under create_graph, made of results that the op does not return, so that its node runs again?",
            {True: "{names}", False: "none"},
            "measured: a next function of their grad_fn is the op's node, by another of its results",
        ),
        reshaped=(
            "Which ops keep views or parts of operands, of some ranks at least, so that a flag that is set later does not count?",
            {True: "{names}", False: "none"},
            "measured: a factor of kron whose flag is set afterwards has no second derivative, nor has one of three axes in matmul",
        ),
    ),
    ".grad": _switches(
        accumulation=(
            "What does a pass do to a .grad that is there already?",
            {
                "added": "it adds to it",
                "replaced": "it replaces it",
                "nulled": "it replaces it; and it is gone before, as soon as an op that makes no view takes its tensor",
            },
            "both documents; MyGrad's of Tensor, for a .grad that is gone",
        ),
        unfinished=(
            "What becomes of the gradients that a pass has reached when it is refused?",
            {"kept": "they are in .grad: each is added where it arrives", "dropped": "nothing: all are added when the pass has ended"},
            "no document says; measured of both frameworks; small engines that add at the end, for none",
        ),
        retaining=(
            "Which computed tensors have a .grad after a pass?",
            {"asked": "those that were asked to retain it", "every": "all that it went through"},
            "both documents; tinygrad's and MyGrad's of Tensor.backward, for all",
        ),
        grad_requires_grad=(
            "Does .grad itself require a gradient after a plain backward?",
            {True: "yes: its stop_gradient is False", False: "no"},
            "Paddle's worked examples print it; measured, rows A04, A22",
        ),
        retain_constant=(
            "What if a tensor that requires no gradient is asked to retain its .grad?",
            {"refused": "an error", "ignored": "nothing"},
            "PyTorch's tutorial of leaf and non-leaf tensors; Paddle's document of retain_grads: a no-op for leaves; measured, row A35",
        ),
        retained=(
            "What does a second pass do to a retained .grad of a computed tensor?",
            {"accumulated": "it adds to it, as for a leaf", "replaced": "it replaces it"},
            "PyTorch's document of Tensor.grad: later passes add; Paddle's pull request 28429: leaves alone accumulate; measured",
        ),
        toggled_leaf=(
            "Does a leaf accumulate whose flag was taken off after the graph was built?",
            {"checked": "no", "ignored": "yes"},
            "PyTorch's notes on autograd, of setting requires_grad: leaves that require a gradient accumulate; measured, rows I24, M16",
        ),
    ),
    "Hooks": _switches(
        hook_order=(
            "In which order are the hooks of several outputs of one op called?",
            {"by_tensor": "tensor by tensor, as each got its first hook", "registered": "as they were registered"},
            "PyTorch's notes on autograd, of the hooks of one tensor; measured: on the first, second and first result of unbind",
        ),
        retained_position=(
            "When is a retained .grad taken, if the tensor has hooks too?",
            {"last": "after all hooks, whatever the order of registration", "registered": "between the hooks, as registered"},
            "PyTorch's document of retain_grad; measured, rows H09, H10",
        ),
        callbacks_record=(
            "Are ops inside a hook recorded?",
            {
                "as_the_pass": "only if the pass creates a graph",
                "as_the_caller": "wherever the caller of the pass records; then the cotangent that the hook sees requires a gradient",
            },
            "PyTorch's document of register_post_accumulate_grad_hook says so of all that runs in a pass; measured, rows H24, H32, H33",
        ),
        missing_cotangent=(
            "What does the hook of an output see that no gradient arrived at?",
            {"absent": "None", "zeros": "zeros"},
            "measured, row H29",
        ),
    ),
    "Order of execution": _switches(
        schedule=(
            "Which of the nodes that are ready runs first?",
            {
                "newest_first": "the one that was recorded last; a leaf accumulates, and what is not offered refuses, once it can",
                "first_in_first_out": "the one that became ready first; a leaf accumulates as soon as it can",
            },
            "measured, rows V01-V19, H28",
        ),
    ),
    "Higher order": _switches(
        derivative_requires_grad=(
            "Does what create_graph returns require a gradient?",
            {"if_connected": "only if it depends on a tensor that does", "always": "always"},
            "PyTorch's notes on autograd, of requires_grad: a result requires one if an operand does; measured, rows C05-C08, C14, C15",
        ),
        conventions=(
            "How many derivatives of an op are offered, is one that vanishes absent, what is refused after a write or without a graph?",
            {False: "what the formulas of the ops suggest", True: "what was measured, op by op; no document says what is right"},
            "measurements, in the files of the package's folder 'conventions'",
        ),
        unoffered=(
            "Which call refuses a derivative of an order that is not offered?",
            {"when_recorded": "the one that would record it", "when_run": "the one that runs it"},
            "measured: double gradients that Paddle lacks, and attention on the CPU in PyTorch",
        ),
        numbered=(
            "Of which ops has the derivative that is not offered a node that is numbered like others, so that leaves come before it?",
            {True: "{names}", False: "none: it is as new as a leaf"},
            "measured: their grad_fn has a name of its own, where that of others is NotImplemented",
        ),
    ),
    "Mutation": _switches(
        computed_flag=(
            "May the flag of a computed tensor be changed?",
            {
                "fixed": "no, that is an error; detach it",
                "free": "yes; it is read when a consumer is built, and for roots at the start",
            },
            "PyTorch's notes on autograd: what has a grad_fn always requires a gradient; measured, rows M10-M15",
        ),
        several_views=(
            "May one of several views that one op made be written to, where that is recorded?",
            {"refused": "no, that is an error", "allowed": "yes"},
            "PyTorch's documents of unsafe_split and unsafe_chunk, which lift the restriction; measured, row M59",
        ),
        retained_follows=(
            "Whose gradient does a tensor retain that is changed in place afterwards?",
            {"newest": "that of its newest content", "registered": "that of its content when it was first asked to retain"},
            "PyTorch's document of retain_grad, and its pull request 79996: it is a property of the tensor; measured, row M62",
        ),
        copies=(
            "Which view ops of the other framework return copies?",
            {True: "{names}", False: "none"},
            "PyTorch's page of tensor views, and its document of flip, which copies; measured: a write to the one shows in the other",
        ),
    ),
    "Custom functions": _switches(
        surplus_gradients=(
            "What if a backward returns more gradients than there are operands?",
            {"none_allowed": "allowed, if the surplus is None", "refused": "an error"},
            "PyTorch's note on extending autograd; Paddle's document of PyLayer: one for each operand; measured, rows P09-P14",
        ),
        left_out_gradients=(
            "What if a backward returns fewer gradients than there are operands?",
            {"refused": "an error", "of_constants": "allowed, if the operands left out need none"},
            "PyTorch's note on extending autograd: one for each operand; measured, rows P09-P14",
        ),
        gradient_of_constant=(
            "What happens to a gradient for an operand that needs none?",
            {"dropped": "it is dropped", "refused": "that is an error"},
            "PyTorch's note on extending autograd: that is not an error; Paddle's message says that it is one; measured, rows P09-P14",
        ),
        wider_gradient=(
            "What if a returned gradient has a shape that its operand broadcasts to?",
            {"summed": "it is summed to the operand's shape", "refused": "an error"},
            "measured, rows P15-P18",
        ),
    ),
    "Kinks and ties": _switches(
        ties=(
            "Which element gets the gradient of a maximum along an axis that is reached several times?",
            {"first": "the one whose index is returned", "split": "all of them, in equal parts"},
            "both documents of amax, and Paddle's pull request 72512: max is the same (see paddle-max-ties-document); rows G023-G027",
        ),
        leaky_at_zero=(
            "What is the derivative of a leaky ReLU at 0?",
            {"slope": "its negative slope", "one": "1"},
            "PyTorch's notes on autograd: the subgradient of least norm; measured, row G004; both are subgradients",
        ),
    ),
}
"""All switches, by the part of the calling contract that they belong to."""

SWITCHES = tuple(switch for switches in GROUPS.values() for switch in switches)
