"""Counterfactual rules: what the reference would answer if an engine's mistake were in its vjp rules.

No script can say that a factor is not conjugated, or that a tie is broken; for that the rules are changed while the reference
runs. An entry of a ``deviation.toml`` names these like the counterfactual scripts, and its ``above`` says whose rules are meant.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.case.rewrite import single_numbers
from conformance.deviations.changed_rules import changed_rules
from conformance.deviations.counterfactuals.alignments import unlikely_classes_raised
from conformance.deviations.counterfactuals.borders import borders_filled_again
from conformance.deviations.counterfactuals.conjugates import (
    derivatives_conjugate_nothing,
    derivatives_in_divisors_conjugate_nothing,
    derivatives_not_conjugated,
    derivatives_of_broadcast_quotients_conjugate_nothing,
    derivatives_of_quotients_half_conjugated,
    factors_not_conjugated,
    seeds_conjugated,
)
from conformance.deviations.counterfactuals.convolutions import seeds_of_convolutions_constant
from conformance.deviations.counterfactuals.dumps import OF_DUMPS
from conformance.deviations.counterfactuals.duplicates import repeated_inputs_allowed
from conformance.deviations.counterfactuals.eigenpairs import gradients_of_eigenvalues_in_a_row, gradients_of_first_eigenvalues
from conformance.deviations.counterfactuals.entropies import curvatures_of_entropies_damped, curvatures_of_entropies_in_targets_damped
from conformance.deviations.counterfactuals.exponentials import (
    degree_eight_with_a_wrong_factor,
    gradients_of_exponentials_squared_too_often,
    matrices_halved_too_few_times,
)
from conformance.deviations.counterfactuals.fills import arriving_at_fills_overwritten, fills_of_first_places, masks_multiplied
from conformance.deviations.counterfactuals.flags import matrices_without_a_flag_dropped, views_of_operands_flagged
from conformance.deviations.counterfactuals.functions import (
    OF_SINC,
    curvatures_of_logsigmoid_differences,
    derivatives_of_differences_negated,
    derivatives_of_weighed_kinks_one_sided,
    exponentials_clamped,
    fractions_of_two_zeros,
    gradients_of_running_sums_in_logarithms,
    gradients_of_single_points_in_front,
    gradients_of_sums_in_differences,
    quotients_rounded_twice,
    repeated_entries_filled_again,
    running_sums_from_the_least_number,
    seeds_lost_beside_constants,
    shared_gradients_averaged,
    slopes_constant,
    slopes_constant_at_zero,
    slopes_of_angles_over_squares,
    slopes_of_sizes_quotients,
)
from conformance.deviations.counterfactuals.histories import histories_kept
from conformance.deviations.counterfactuals.hooks import OF_CALLBACKS
from conformance.deviations.counterfactuals.kept_cotangents import (
    cotangents_of_normalizations_overwritten,
    cotangents_of_slopes_overwritten,
)
from conformance.deviations.counterfactuals.kinks import (
    derivatives_of_kinks_one_sided,
    derivatives_of_ties_unshared,
    halves_away_from_zero,
    logistic_slopes_at_zero_less_by_one,
    selu_slopes_of_rounded_sums,
    shares_of_ties_added,
    slopes_of_powers_constant,
    ties_unshared,
)
from conformance.deviations.counterfactuals.lengths import (
    distances_to_themselves,
    largest_sizes_of_powers,
    lengths_of_squares,
    slopes_of_lengths_over_them,
)
from conformance.deviations.counterfactuals.losses import (
    labels_smoothed_by_single_numbers,
    margins_of_single_numbers,
    shares_of_entropies_constant,
    shares_overwritten_by_gradients,
    slopes_of_logits_differences,
    soft_margins_of_sums,
    variances_bounded_above,
    weights_of_targets_for_all,
)
from conformance.deviations.counterfactuals.mantissas import powers_of_mantissas_single, slopes_of_mantissas_zero
from conformance.deviations.counterfactuals.matrices import (
    determinants_beside_a_small_one_constant,
    determinants_made_of_singular_values,
    determinants_of_singular_matrices_constant,
    eps_added_to_lengths,
    extreme_sizes_compared,
    gradients_of_factors_through_solutions,
    largest_sizes_unshared,
    lower_triangles_cut_above,
    norms_that_are_scaled_larger,
    norms_with_an_epsilon,
    transposed_factors_solved_from_the_left,
)
from conformance.deviations.counterfactuals.memory import OF_MEMORY
from conformance.deviations.counterfactuals.norms import (
    arriving_means_kept,
    arrows_to_lone_parameters_undrawn,
    images_arriving_in_another_format,
    lone_gradients_of_parameters_zero,
    normalized_from_results,
    squares_beyond_the_range,
    statistics_of_groups_constant,
    sums_of_groups_without_axes,
    variances_of_squares,
    weights_read_in_a_row,
)
from conformance.deviations.counterfactuals.pooling import (
    negative_gradients_of_segments_unshared,
    overlaps_not_summed,
    partial_windows_whole,
    tied_elements_of_segments_unshared,
    written_over_elements_kept,
)
from conformance.deviations.counterfactuals.products import (
    gradients_of_transposed_vectors_refused,
    seeds_read_after_their_gradients,
    third_derivatives_not_summed,
)
from conformance.deviations.counterfactuals.programs import contributions_to_slots_not_summed, siblings_of_inputs_hidden
from conformance.deviations.counterfactuals.reflections import products_written_over
from conformance.deviations.counterfactuals.roots import saved_gradients_of_roots_overwritten
from conformance.deviations.counterfactuals.saved_statistics import statistics_saved
from conformance.deviations.counterfactuals.shares import shares_clipped_in_blocks
from conformance.deviations.counterfactuals.slots_of_seeds import OF_SLOTS
from conformance.deviations.counterfactuals.special import (
    curvatures_of_softplus_differences,
    digammas_reflected_far_from_0,
    mish_of_rounded_sums,
    products_with_numbers_never_minus_zero,
    slopes_of_bessel_differences,
    slopes_of_gammaln_short_series,
    slopes_of_powers_by_operands,
    softplus_of_rounded_sums,
    trigammas_of_a_short_series,
    trigammas_of_nine_terms,
)
from conformance.deviations.counterfactuals.sums import OF_SUMS
from conformance.deviations.counterfactuals.triangles import triangles_of_repeated_elements
from conformance.deviations.counterfactuals.unwritten import OF_UNWRITTEN
from conformance.deviations.counterfactuals.zeros import zeros_without_memory
from reference_impl import OPS
from reference_impl.primitives.shape import expand
from reference_impl.tape.primitive import Primitive, array_of, shape_of
from reference_impl.tape.rules import intercepted_rules
from reference_impl.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from reference_impl.tape.rules import Pull, Pulled, Rule

    Change = Callable[[Sequence[str]], Iterator[AbstractContextManager[None]]]


def numbers_of_rules_rounded(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients of ops be those for numbers that were rounded to float32, where their results are right."""
    yield changed_rules(ops, _with_rounded_numbers)


def _with_rounded_numbers(right: Rule, _: int, *given: Any, **attrs: Any) -> Any:
    return right(*given, **single_numbers(attrs))


def weights_left_out(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients of the first operands of ops be those with a weight of ones, where that of the weight is not asked for."""
    yield intercepted_rules(partial(_unweighted, ops))


def _unweighted(
    ops: Sequence[str], right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, out: Any, operands: Any
) -> Pulled:
    if primitive.name in ops and 1 not in asked:
        x, weight, *more = operands
        operands = (x, np.ones(shape_of(weight), array_of(weight).dtype), *more)
    return right(node, asked, g, out, operands)


def written_operands_constant(_: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have the gradients of in-place ops be what they are, and not depend on what the written tensor was before."""
    yield intercepted_rules(_of_constant_before)


def _of_constant_before(right: Pull, _: Primitive, node: Any, asked: Sequence[int], g: Any, out: Any, operands: Any) -> Pulled:
    written = node.operands[0]  # of an update in place: another tensor at the place that it wrote to, of whose memory nothing is known
    place = written.node if isinstance(g, Tensor) and type(written) is Tensor and written.memory is None else None
    if place is not None and written.slot in (place.overwritten or ()):
        operands = (array_of(operands[0]), *operands[1:])
    return right(node, asked, g, out, operands)


def empty_differences_extended(ops: Sequence[str]) -> Iterator[AbstractContextManager[None]]:
    """Have derivatives of the gradients of ops have the length 1 where a seed has none, if the operand was broadcast."""
    yield intercepted_rules(partial(_extended, ops))


def _extended(ops: Sequence[str], right: Pull, primitive: Primitive, node: Any, asked: Sequence[int], g: Any, *given: Any) -> Pulled:
    made = right(node, asked, g, *given)
    op, order = node.derivative_of
    if not order or op not in ops or primitive is not OPS["unbroadcast"]:
        return made
    return [(position, expand(g, shape=tuple(n or 1 for n in shape_of(c)))) for position, c in made]


RULES: dict[str, Change] = {
    **OF_SLOTS,
    **OF_DUMPS,
    **OF_SUMS,
    **OF_CALLBACKS,
    **OF_MEMORY,
    **OF_UNWRITTEN,
    "as if a write changed the history of one tensor alone": histories_kept,
    "as if factors were not conjugated": factors_not_conjugated,
    "as if the slope of a size were a quotient": slopes_of_sizes_quotients,
    "as if seeds were conjugated": seeds_conjugated,
    "as if gradients of convolutions did not depend on what arrives": seeds_of_convolutions_constant,
    "as if seeds of derivatives were not conjugated": derivatives_not_conjugated,
    "as if derivatives conjugated nothing": derivatives_conjugate_nothing,
    "as if derivatives of quotients were half conjugated": derivatives_of_quotients_half_conjugated,
    "as if derivatives of broadcast quotients conjugated nothing": derivatives_of_broadcast_quotients_conjugate_nothing,
    "as if derivatives in divisors conjugated nothing": derivatives_in_divisors_conjugate_nothing,
    "as if numbers in gradients were float32": numbers_of_rules_rounded,
    "as if the slope of a power were constant where its exponent is 0": slopes_of_powers_constant,
    "as if gradients were multiplied by masks": masks_multiplied,
    "as if ties were not shared": ties_unshared,
    "as if halves were rounded away from 0": halves_away_from_zero,
    "as if weights of targets met all samples": weights_of_targets_for_all,
    "as if derivatives took the slope at 0 from the negative side": derivatives_of_kinks_one_sided,
    "as if the slope at the logit 0 were less by 1": logistic_slopes_at_zero_less_by_one,
    "as if the slope of selu were a sum of rounded numbers": selu_slopes_of_rounded_sums,
    "as if borders were filled in derivatives": borders_filled_again,
    "as if empty gradients had an element": empty_differences_extended,
    "as if weights were read in a row": weights_read_in_a_row,
    "as if weights were ones": weights_left_out,
    "as if in-place ops kept their operand as a constant": written_operands_constant,
    "as if gradients of single points lay in front": gradients_of_single_points_in_front,
    "as if gradients of logcumsumexp were made of logarithms": gradients_of_running_sums_in_logarithms,
    "as if gradients of logsumexp were exponentials of differences": gradients_of_sums_in_differences,
    "as if entries that are named again were filled again": repeated_entries_filled_again,
    "as if logcumsumexp began with the least number": running_sums_from_the_least_number,
    "as if what is normalized were computed from the result": normalized_from_results,
    "as if gradients of lone weights and biases were 0": lone_gradients_of_parameters_zero,
    "as if arrows to lone weights and biases were not drawn": arrows_to_lone_parameters_undrawn,
    "as if images arrived in another format": images_arriving_in_another_format,
    "as if no mean of what arrives were subtracted": arriving_means_kept,
    "as if variances were means of squares less squares of means": variances_of_squares,
    "as if squares of distances left the range": squares_beyond_the_range,
    "as if statistics of groups were constants": statistics_of_groups_constant,
    "as if second derivatives were made of saved statistics": statistics_saved,
    "as if sums of groups lost their axes": sums_of_groups_without_axes,
    "as if saved gradients of roots were overwritten": saved_gradients_of_roots_overwritten,
    "as if overlaps were not summed": overlaps_not_summed,
    "as if eps were added to lengths": eps_added_to_lengths,
    "as if norms that are scaled were larger by 1e-7": norms_that_are_scaled_larger,
    "as if norms were larger by 1e-12": norms_with_an_epsilon,
    "as if lower triangles of ones were cut one above": lower_triangles_cut_above,
    "as if triangles were written to elements that are one": triangles_of_repeated_elements,
    "as if transposed factors were solved with from the left": transposed_factors_solved_from_the_left,
    "as if matrices were halved too few times": matrices_halved_too_few_times,
    "as if gradients of exponentials were squared too often": gradients_of_exponentials_squared_too_often,
    "as if a polynomial of degree 8 had a wrong factor": degree_eight_with_a_wrong_factor,
    "as if reflections were multiplied by the last product": products_written_over,
    "as if gradients of factors were made of those of right sides": gradients_of_factors_through_solutions,
    "as if eigenvalues of a batch had the gradients of the first ones": gradients_of_first_eigenvalues,
    "as if gradients of eigenvalues were read in a row": gradients_of_eigenvalues_in_a_row,
    "as if no class were less likely than the least number": unlikely_classes_raised,
    "as if largest sizes were not shared": largest_sizes_unshared,
    "as if extrema of segments were not shared": tied_elements_of_segments_unshared,
    "as if negative gradients of segments were not shared": negative_gradients_of_segments_unshared,
    "as if no element of an unpooling were written over": written_over_elements_kept,
    "as if the shares of ties were added": shares_of_ties_added,
    "as if derivatives gave ties to the second operand": derivatives_of_ties_unshared,
    "as if derivatives took the slope at 0 for 1": derivatives_of_weighed_kinks_one_sided,
    "as if powers of mantissas were float32": powers_of_mantissas_single,
    "as if mantissas of 0 were constants": slopes_of_mantissas_zero,
    "as if slopes were constants": slopes_constant,
    "as if slopes at 0 were constants": slopes_constant_at_zero,
    **OF_SINC,
    "as if 0 were added to products with numbers": products_with_numbers_never_minus_zero,
    "as if curvatures of logsigmoid were differences": curvatures_of_logsigmoid_differences,
    "as if curvatures of softplus were differences": curvatures_of_softplus_differences,
    "as if softplus were the logarithm of a rounded sum": softplus_of_rounded_sums,
    "as if mish were made of rounded sums": mish_of_rounded_sums,
    "as if slopes of Bessel functions were differences": slopes_of_bessel_differences,
    "as if gradients of gammaln were a short series": slopes_of_gammaln_short_series,
    "as if digamma were reflected far from 0": digammas_reflected_far_from_0,
    "as if slopes of powers were made of operands": slopes_of_powers_by_operands,
    "as if trigamma were a short series": trigammas_of_a_short_series,
    "as if trigamma were nine terms and a series for the rest": trigammas_of_nine_terms,
    "as if slopes of angles were over squares": slopes_of_angles_over_squares,
    "as if fractions of two were 0 in gradients": fractions_of_two_zeros,
    "as if gradients were averaged where elements are one": shared_gradients_averaged,
    "as if curvatures of entropies had an epsilon": curvatures_of_entropies_damped,
    "as if curvatures of entropies in targets had an epsilon": curvatures_of_entropies_in_targets_damped,
    "as if slopes of logits were differences": slopes_of_logits_differences,
    "as if labels were smoothed by numbers of float32": labels_smoothed_by_single_numbers,
    "as if extreme sizes were found by comparisons": extreme_sizes_compared,
    "as if largest sizes were powers": largest_sizes_of_powers,
    "as if rows had distances to themselves": distances_to_themselves,
    "as if partial windows were whole": partial_windows_whole,
    "as if lengths were roots of sums of squares": lengths_of_squares,
    "as if what arrives at a length were multiplied first": slopes_of_lengths_over_them,
    "as if margins of targets were numbers of float32": margins_of_single_numbers,
    "as if entropies were constant in their shares": shares_of_entropies_constant,
    "as if gradients of cross entropies lay where the shares did": shares_overwritten_by_gradients,
    "as if variances were bounded above": variances_bounded_above,
    "as if soft margins were logarithms of sums": soft_margins_of_sums,
    "as if what arrives were read after its gradient was written": seeds_read_after_their_gradients,
    "as if the other results beside an input were hidden": siblings_of_inputs_hidden,
    "as if contributions to one of several results were not summed": contributions_to_slots_not_summed,
    "as if third derivatives were not summed": third_derivatives_not_summed,
    "as if derivatives of broadcast differences were negated": derivatives_of_differences_negated,
    "as if no seed arrived beside a constant": seeds_lost_beside_constants,
    "as if quotients were rounded before they are rounded down": quotients_rounded_twice,
    "as if softmax clipped what is NaN in a block": shares_clipped_in_blocks,
    "as if exponentials were clamped": exponentials_clamped,
    "as if determinants that are 0 were constants": determinants_of_singular_matrices_constant,
    "as if determinants were made of singular values": determinants_made_of_singular_values,
    "as if determinants beside a small one were constants": determinants_beside_a_small_one_constant,
    "as if gradients of batch norms were written to their cotangents": cotangents_of_normalizations_overwritten,
    "as if gradients of second derivatives were written to their cotangents": cotangents_of_slopes_overwritten,
    "as if matrices without a flag had no gradient": matrices_without_a_flag_dropped,
    "as if views that ops keep had the flags of their bases": views_of_operands_flagged,
    "as if gradients of transposed vectors were refused": gradients_of_transposed_vectors_refused,
    "as if zeros stayed zeros when NaN multiplies them": zeros_without_memory,
    "as if what arrives at fills were overwritten": arriving_at_fills_overwritten,
    "as if fills had gradients at the first places alone": fills_of_first_places,
    "as if inputs might stand twice": repeated_inputs_allowed,
}
"""The counterfactual rules by the words that an entry uses."""
