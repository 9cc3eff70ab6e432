"""Arguments for the ops that no random graph uses, and arguments that the catalogue does not draw.

A row is an op, the shapes of its operands and its attributes. Elements lie between 0.4 and 2.4 in size, of any sign where the
op's domain has both, so that poles and the usual kinks are far.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl import OPS
from reference_impl.tape.primitive import Domain, Primitive
from tests.reference_impl.recurrent_arguments import RECURRENT

if TYPE_CHECKING:
    from collections.abc import Callable

Shapes = tuple[tuple[int, ...], ...]

CONV_2D: dict[str, Any] = {"stride": [1, 2], "padding": [1, 0], "dilation": [2, 1], "groups": 2}
CONV_3D: dict[str, Any] = {"dilation": [1, 2, 1], "groups": 1}

ROWS: tuple[tuple[str, Shapes, dict[str, Any]], ...] = (
    # Transposes of catalogue ops: they appear in graphs of derivatives only.
    ("unbroadcast", ((4, 2, 3),), {"shape": (2, 1)}),
    ("unbroadcast", ((2, 3),), {"shape": ()}),
    ("narrow", ((2, 4, 3),), {"axis": 1, "start": 1, "length": 2}),
    ("narrow", ((2, 4),), {"axis": -1, "start": 0, "length": 3}),
    ("widen", ((2, 2, 3),), {"axis": 1, "start": 1, "full": 4}),
    ("widen", ((2, 3),), {"axis": -1, "start": 1, "full": 4}),
    ("half", ((2, 4),), {"axis": -1, "length": 3}),
    ("completed", ((2, 3),), {"axis": -1, "start": 0, "full": 4}),
    ("conv2d_spread", ((1, 2, 3, 2), (2, 3, 2, 3)), {"padding": [0, 1]}),
    ("conv2d_spread", ((1, 2, 4, 2), (2, 1, 2, 1)), {"padding": [2, 0]}),
    ("put_slice", ((2, 1),), {"key": [[0, 3, 2], [1, 2, 1]], "shape": (4, 3)}),
    ("put_slice", ((2, 3),), {"key": [[1, 3, 1]], "shape": (4, 3)}),
    ("put_int", ((2, 3),), {"index": -1, "shape": (3, 2, 3)}),
    ("put_int", ((),), {"index": 1, "shape": (3,)}),
    ("index_add_rows", ((2, 4, 3),), {"axis": 1, "index": [0, 2, 2, 1], "length": 3}),
    ("index_add_rows", ((2, 3, 4),), {"axis": 0, "index": [[0, 2, 2], [1, 2, 0]], "length": 4}),
    ("put_diagonal", ((2, 3),), {"offset": 1, "shape": (2, 3, 4)}),
    ("put_diagonal", ((2,),), {"offset": -1, "shape": (3, 4)}),
    ("put_masked", ((3,),), {"mask": [[True, False], [False, True], [True, False]], "shape": (3, 2)}),
    ("put_masked", ((2, 2),), {"mask": [True, False, True], "shape": (3, 2)}),
    ("put_intarray", ((3, 2),), {"index": [[0, 1, 1], [2, 0, 2]], "shape": (2, 3, 2)}),
    ("scatter_add", ((2, 3),), {"axis": 1, "index": [[0, 2, 2], [1, 1, 0]], "shape": (3, 4)}),
    ("scatter_add", ((2, 3),), {"axis": -1, "index": [[0, 2, 2], [1, 1, 0]], "shape": (2, 3)}),
    ("overwrite", ((2, 3), (3,)), {"op": "getitem_int", "attrs": {"index": 1}, "slot": 0}),
    ("overwrite", ((2, 3), (2, 1)), {"op": "split", "attrs": {"sections": [2, 1], "axis": 1}, "slot": 1}),
    ("overwrite", ((2, 3), (3, 2)), {"op": "t", "attrs": {}, "slot": 0}),
    ("vander_as_one", ((3,),), {"count": 4}),
    ("matrix_exp_or_exp", ((2, 2),), {}),
    ("matrix_exp_or_exp", ((3, 1, 1),), {}),
    ("pdist_of_parts", ((3, 2),), {"p": 2.0}),
    ("cov_of_uncentred", ((3, 4),), {"correction": 1}),
    ("corrcoef_of_uncentred", ((3, 4),), {}),
    ("cov_weighted_of_uncentred", ((2, 4), (4,)), {}),
    # Parts of rules, and ops as one framework spells them.
    ("link", ((2, 3), (2,), ()), {}),
    ("reciprocal", ((2, 3),), {}),
    ("distance", ((2, 3), (3,)), {}),
    ("cosine", ((2, 3), (2, 3)), {}),
    ("logistic_slope", ((2, 3),), {}),
    ("softplus_slope", ((2, 3),), {"beta": 1.5}),
    ("gelu_slope", ((2, 3),), {}),
    ("crop", ((4, 3),), {"before": [1, 0], "after": [1, 1]}),
    ("div_by_quotient", ((2, 3), (4, 1, 3)), {}),
    ("rdiv_scalar_by_div", ((2, 3),), {"other": -1.5}),
    ("silu_by_result", ((2, 3),), {}),
    ("cast_to_own_dtype_by_copy", ((2, 3),), {}),
    ("abs_by_quotient", ((2, 3),), {}),
    ("det_by_values", ((1, 1),), {}),
    ("det_by_values", ((2, 3, 3),), {}),
    ("tanh_by_factors", ((2, 3),), {}),
    ("prod_by_quotient", ((2, 3),), {"axis": 1, "keepdims": False}),
    ("factor_taken_out", ((2, 3), (2, 3), (2, 3)), {}),
    ("where_indivisible", ((2, 3), (2, 3)), {}),
    ("outer_of_parts", ((3,), (4,)), {}),
    ("inner_of_flattened", ((2, 3), (4, 3)), {}),
    ("inner_of_flattened", ((1, 1), (4, 1)), {}),
    ("products_of_rows", ((2, 3, 4), (2, 2, 4)), {}),
    ("tensordot_of_needed", ((2, 3), (3, 2)), {"axes": 1}),
    ("tensordot_of_needed", ((2, 1, 3), (4, 1)), {"axes": [[1], [-1]]}),
    ("cholesky_solve_of_lower", ((3, 2), (3, 3)), {}),
    ("ldexp", ((2, 1),), {"exponent": [-2, 0, 3]}),
    ("ldexp_of_parts", ((2, 1),), {"exponent": [-2, 0, 3]}),
    ("atan2_of_expanded", ((2, 3), (3,)), {}),
    ("trapezoid_x_of_parts", ((2, 3), (2, 3)), {"axis": 1}),
    ("cumulative_trapezoid_x_of_parts", ((2, 3), (2, 3)), {"axis": 1}),
    ("block_diag_of_joins", ((2, 3), (1, 2)), {}),
    ("meshgrid_of_parts", ((2,), (3,)), {}),
    ("meshgrid_stacked", ((2,), (3,)), {}),
    ("cartesian_prod_stacked", ((2,), (3,)), {}),
    ("broadcast_tensors_stacked", ((2, 3), (3,)), {}),
    ("broadcast_tensors_of_parts", ((2, 3), (3,)), {}),
    ("meshgrid", ((), (3,)), {}),
    ("cartesian_prod", ((2,), ()), {}),
    ("cartesian_prod_of_parts", ((2,), (3,)), {}),
    ("inner_of_rows", ((2, 1), (3, 1)), {}),
    ("adaptive_avg_pool1d_or_mean", ((1, 2, 3),), {"size": [1]}),
    ("adaptive_avg_pool2d_or_mean", ((1, 2, 3, 2),), {"size": [1, 1]}),
    ("adaptive_avg_pool3d_or_mean", ((1, 2, 1, 2, 2),), {"size": [1, 1, 1]}),
    ("vecdot_of_parts", ((2, 3), (2, 3)), {}),
    ("linear_of_parts", ((4, 3), (2, 3), (2,)), {}),
    ("mse_loss_of_parts", ((2, 3), (2, 3)), {}),
    ("where_of_parts", ((2, 3), (3,)), {"mask": [[True, False, True], [False, True, False]]}),
    ("masked_fill", ((2, 1),), {"mask": [[True, False], [False, True]], "value": 1.5}),
    ("masked_fill_tensor", ((), ()), {"mask": [True, False]}),
    ("masked_scatter_of_parts", ((2, 2), (3,)), {"mask": [[True, False], [True, False]]}),
    ("largest_of_windows", ((2, 3, 4),), {}),
    ("conv2d", ((2, 3, 4, 3), (2, 3, 3, 2)), {"padding": [1, 0]}),
    ("conv2d", ((1, 2, 1, 3), (2, 2, 3, 1)), {"padding": [1, 0]}),
    ("glu_of_parts", ((2, 4, 3),), {"axis": 1}),
    ("mish_gate", ((2, 3),), {}),
    ("frac_of_parts", ((3,),), {}),
    ("softsign_as_one", ((2, 3),), {}),
    ("tanhshrink_as_one", ((2, 3),), {}),
    ("sinc_slope", ((2, 3),), {"order": 2}),
    ("bessel_slope", ((2, 3),), {"order": 3}),
    ("damped_slope", ((2, 3),), {"order": 2, "tilt": 0}),
    ("damped_slope", ((2, 3),), {"order": 1, "tilt": 1}),
    ("dropout_eval", ((2, 3),), {"p": 0.5}),
    ("dropout_downscaled_as_one", ((2, 3),), {"p": 0.25}),
    ("dropout_all", ((2, 3),), {}),
    ("dropout_all_unsigned", ((2, 3),), {}),
    ("hardshrink_signed", ((2, 3),), {"bound": 0.5}),
    ("pad_reflect_by_volumes", ((1, 2, 4),), {"before": [1], "after": [2]}),
    ("pad_replicate_by_volumes", ((1, 1, 3, 2),), {"before": [2, 0], "after": [1, 3]}),
    ("pad_circular_by_volumes", ((1, 1, 2, 3, 2),), {"before": [1, 2, 0], "after": [0, 1, 1]}),
    ("prelu", ((2, 3), (3,)), {}),
    ("prelu", ((2, 3, 2), (3,)), {}),
    ("prelu", ((3,), (1,)), {}),
    ("prelu", ((), (1,)), {}),
    ("prelu", ((2, 3), ()), {}),
    ("stft", ((7,), (3,)), {"hop_length": 2, "normalized": True, "onesided": True}),
    ("stft", ((2, 5), (4,)), {"hop_length": 1, "normalized": False, "onesided": False}),
    ("stft_of_parts", ((7,), (3,)), {"hop_length": 2, "normalized": True, "onesided": True}),
    ("stft_of_parts", ((2, 5), (4,)), {"hop_length": 1, "normalized": False, "onesided": False}),
    # Terms of losses, and losses as one framework makes them.
    ("mean_all", ((2, 3),), {"axis": None, "keepdims": False}),
    ("l1_loss_by_mean_all", ((2, 3), (2, 3)), {"reduction": "mean"}),
    (
        "binary_cross_entropy_with_logits_by_mean_all",
        ((3,),),
        {"target": [0.5, 0.0, 1.0], "weight": [2.0, 1.0, 0.5], "pos_weight": None, "reduction": "mean"},
    ),
    ("huber", ((2, 3), (2, 3)), {"delta": 0.7}),
    # Contractions as one framework makes them.
    ("einsum_as_one", ((2, 3), (3, 2)), {"equation": "ij,jk->ki"}),
    ("einsum_single_as_one", ((2, 2, 3),), {"equation": "iij->j"}),
    ("einsum_triple_by_pairs", ((2, 3), (3, 2), (2,)), {"equation": "ij,jk,k->i"}),
    ("multi_dot_as_one", ((2, 3), (3, 2), (2, 2)), {}),
    ("matmul_transposed_as_one", ((3, 2), (4, 3)), {"transpose_x": True, "transpose_y": True}),
    ("matmul_transposed_as_one", ((3,), (3, 2)), {"transpose_x": True, "transpose_y": False}),
    ("divergence", ((2, 3),), {"target": [[0.5, 0.0, 1.0], [0.25, 0.5, 0.25]]}),
    ("divergence_of_logs", ((2, 3),), {"target": [[-0.5, 0.0, -1.0], [-2.0, -0.5, -0.25]]}),
    ("logistic_entropy", ((2, 3),), {"target": [[0.5, 0.0, 1.0], [0.25, 1.0, 0.0]], "pos_weight": None}),
    ("logistic_entropy", ((3,),), {"target": [0.5, 0.0, 1.0], "pos_weight": [2.0, 1.0, 0.5]}),
    *((f"{op}_in_target", ((2, 3), (2, 3)), {}) for op in ("divergence", "divergence_of_logs")),
    ("kl_div_of_logs_in_target_of_terms", ((2, 3), (2, 3)), {"reduction": "batchmean"}),
    ("times_own_log", ((2, 3),), {}),
    *((op, ((),), {"axis": 0}) for op in ("cummax", "cummin")),
    ("logistic_entropy_in_target", ((2, 3), (2, 3)), {"pos_weight": None}),
    ("logistic_entropy_in_target", ((3,), (3,)), {"pos_weight": [2.0, 1.0, 0.5]}),
    ("logistic_gap", ((2, 3), (2, 3)), {}),
    (
        "binary_cross_entropy_with_logits_in_target_of_terms",
        ((3,), (3,)),
        {"weight": [2.0, 0.5, 1.0], "pos_weight": [2.0, 1.0, 0.5], "reduction": "mean"},
    ),
    ("soft_margin_loss_by_sum", ((3,),), {"target": [1.0, -1.0, 1.0], "reduction": "mean"}),
    ("soft_margin", ((3,),), {"target": [1.0, -1.0, 1.0]}),
    ("soft_margin_by_sum", ((3,),), {"target": [1.0, -1.0, 1.0]}),
    ("softmax_entropy", ((2, 3),), {"target": [[0.5, 0.0, 0.5], [0.25, 0.5, 0.5]]}),
    ("softmax_entropy", ((2, 2, 2),), {"target": [[[0.5, 0.0], [0.5, 1.0]], [[0.25, 0.5], [0.5, 0.0]]]}),
    (
        "cross_entropy_of_terms",
        ((2, 3),),
        {"target": [2, 0], "weight": [1.0, 0.5, 2.0], "ignore_index": -100, "reduction": "mean"},
    ),
    (
        "cross_entropy_of_terms",
        ((3, 2),),
        {"target": [1, -100, 0], "weight": None, "ignore_index": -100, "reduction": "none"},
    ),
    ("cross_entropy_soft_of_terms", ((2, 2),), {"target": [[0.5, 0.5], [1.0, 0.0]], "reduction": "sum"}),
    (
        "triplet_margin_with_distance_loss_by_difference",
        ((2, 3), (2, 3), (2, 3)),
        {"margin": 4.0, "swap": True, "reduction": "sum"},
    ),
    ("entropy_of_shares", ((2, 2, 3), (2, 2, 3)), {}),
    ("smoothed", ((2, 3),), {"label_smoothing": 0.25}),
    (
        "cross_entropy_smoothed_of_samples",
        ((2, 3, 2),),
        {"target": [[2, 0], [1, 1]], "weight": [1.0, 0.5, 2.0], "label_smoothing": 0.25, "reduction": "mean"},
    ),
    (
        "cross_entropy_distilled_of_samples",
        ((2, 3), (2, 3)),
        {"weight": [1.0, 0.5, 2.0], "label_smoothing": 0.25, "reduction": "mean"},
    ),
    ("cross_entropy_distilled_of_samples", ((2, 2, 2), (2, 2, 2)), {"weight": None, "label_smoothing": 0.0, "reduction": "none"}),
    ("hinge_embedding_loss_by_relu", ((3,),), {"target": [1.0, -1.0, -1.0], "margin": 1.5, "reduction": "mean"}),
    ("margin_ranking_loss_by_relu", ((3,), (3,)), {"target": [1.0, -1.0, -1.0], "margin": 0.5, "reduction": "sum"}),
    # Parts of convolutions, of resampling and of distances, and these as one framework makes them.
    ("conv2d_plain", ((1, 2, 3, 4), (2, 1, 2, 2)), {"stride": [1, 2], "padding": [1, 0], "dilation": [2, 1], "groups": 2}),
    ("conv3d_plain", ((1, 1, 2, 2, 3), (2, 1, 1, 2, 2)), {"stride": [1, 1, 2], "padding": [0, 0, 1], **CONV_3D}),
    ("conv_transpose2d_plain", ((1, 2, 2, 2), (2, 1, 2, 1)), {"added": [0, 1], **CONV_2D}),
    (
        "conv_transpose3d_plain",
        ((1, 1, 1, 2, 2), (1, 2, 1, 2, 1)),
        {"stride": [1, 2, 1], "padding": [0] * 3, "added": [0, 1, 0], **CONV_3D},
    ),
    ("conv1d_of_parts", ((1, 2, 4), (2, 2, 2), (2,)), {"stride": [2], "padding": [1], "dilation": [1], "groups": 1}),
    ("conv_of_parts", ((1, 2, 3, 2), (2, 1, 2, 2), (2,)), CONV_2D),
    ("conv_of_parts", ((1, 1, 2, 2, 2), (2, 1, 1, 2, 2), (2,)), {"stride": [1] * 3, "padding": [0] * 3, **CONV_3D}),
    (
        "conv_transpose1d_of_parts",
        ((1, 2, 3), (2, 2, 2), (2,)),
        {"stride": [2], "padding": [1], "added": [1], "dilation": [1], "groups": 1},
    ),
    ("conv_transpose_of_parts", ((1, 2, 2, 2), (2, 1, 2, 1), (2,)), {"added": [0, 1], **CONV_2D}),
    (
        "conv_transpose_of_parts",
        ((1, 1, 1, 2, 2), (1, 2, 1, 2, 1), (2,)),
        {"stride": [1, 2, 1], "padding": [0] * 3, "added": [0, 1, 0], **CONV_3D},
    ),
    ("alignments", ((3, 2, 3),), {"target": [[1, 2], [1, 1]], "times": [3, 2], "lengths": [2, 1]}),
    ("alignments_of_scores", ((3, 1, 3),), {"target": [[2, 2]], "times": [3], "lengths": [2]}),
    ("ctc_loss_of_scores", ((2, 1, 3),), {"target": [[1, 2]], "times": [2], "lengths": [2], "reduction": "mean"}),
    ("copysign_by_quotient", ((2, 3), (3,)), {}),
    ("less_own", ((3,),), {"own": 0.25, "weights": [1.0, 0.5, 2.0]}),
    (
        "multi_margin_loss_of_parts",
        ((2, 3),),
        {"target": [2, 0], "p": 2, "margin": 1.0, "weight": [1.0, 0.5, 2.0], "reduction": "mean"},
    ),
    ("multi_margin_loss_of_parts", ((2, 3),), {"target": [1, 1], "p": 1, "margin": 0.5, "weight": None, "reduction": "none"}),
    ("multilabel_margin_loss_of_parts", ((2, 3),), {"target": [[2, 0, -1], [-1, 1, 0]], "reduction": "sum"}),
    ("lp_pool1d_of_means", ((1, 2, 3),), {"p": 4.0, "kernel": [2], "stride": [1]}),
    ("lp_pool1d_ceil_of_means", ((1, 2, 4),), {"p": 4.0, "kernel": [2], "stride": [3]}),
    ("lp_pool2d_ceil_of_means", ((1, 1, 4, 2),), {"p": 2.0, "kernel": [2, 1], "stride": [3, 1]}),
    ("lp_pool2d_of_means", ((1, 1, 3, 2),), {"p": 2.0, "kernel": [2, 1], "stride": [1, 1]}),
    ("gamma_density", ((2, 3),), {"a": [[0.5, 1.0, 2.0], [1.5, -1.0, -0.5]]}),
    ("gaussian_nll_loss", ((2, 3), (2, 3), (2, 3)), {"eps": 1e-6, "reduction": "sum"}),
    ("trilinear", ((3, 2), (3, 4), (2, 2, 4)), {}),
    ("bilinear_as_one", ((3, 2), (3, 4), (2, 2, 4), (2,)), {}),
    ("bilinear_of_turned", ((3, 2), (3, 4), (2, 2, 4), (2,)), {}),
    ("weigh", ((2, 3, 2),), {"axis": 1, "weights": np.array([[0.5, 0.25, 0.0], [0.0, 1.0, -0.5]]), "doubt": np.zeros((2, 3))}),
    ("interpolate_bilinear", ((1, 2, 3, 2),), {"size": [1, 3], "align_corners": ["front", False]}),
    ("length_of", ((2, 3),), {"axis": 1, "keepdims": False, "eps": 0.0}),
    ("at_least", ((2, 3),), {"bound": -5.0}),
    ("normalize_by_maximum", ((2, 3),), {"axis": 0, "eps": 1e-3}),
    ("local_response_norm_by_quotient", ((2, 3, 2),), {"size": 2, "alpha": 0.5, "beta": 0.75, "k": 2.0}),
    ("cosine_similarity_of_squares", ((2, 3), (2, 3)), {"axis": -1, "eps": 1e-8}),
    ("pairwise_distance_by_tensor", ((2, 3), (2, 3)), {"eps": 0.125, "keepdims": False}),
    ("triplet_margin_loss_by_tensor", ((2, 3), (2, 3), (2, 3)), {"margin": 9.0, "eps": 1e-6, "reduction": "mean"}),
    ("cosine_embedding_loss_of_squares", ((2, 3), (2, 3)), {"target": [1.0, -1.0], "margin": -1.5, "reduction": "none"}),
    ("multilabel_soft_margin_loss_by_mean", ((2, 3),), {"target": [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]], "reduction": "sum"}),
    ("scaled_dot_product_attention_of_turned", ((1, 2, 2, 3), (1, 2, 3, 3), (1, 2, 3, 2)), {}),
    ("scaled_dot_product_attention_causal_of_turned", ((1, 1, 2, 3), (1, 1, 3, 3), (1, 1, 3, 2)), {}),
    *RECURRENT,
    # Norms and distances.
    ("vector_norm", ((2, 3, 2),), {"p": 3.0, "axis": [0, 2], "keepdims": True}),
    ("vector_norm", ((2, 3),), {"p": 1.5, "axis": 1, "keepdims": False}),
    ("vector_norm", ((2, 3),), {"p": "inf", "axis": None, "keepdims": False}),
    ("vector_norm", ((2, 3),), {"p": "-inf", "axis": 1, "keepdims": False}),
    ("vector_norm", ((2, 3),), {"p": 0.5, "axis": 1, "keepdims": False}),
    ("backward_stable", ((2, 3), (2,)), {}),
    ("settled", ((2, 3), (2,)), {"vectors": True}),
    ("settled_pair", ((2, 2), (2,), (2, 2)), {"vectors": True}),
    ("direction", ((2, 3), (2, 1)), {}),
    ("over_length", ((2, 3), (2, 1)), {}),
    ("power_of_length", ((2, 3),), {"exponent": -1.0}),
    ("power_unless_zero", ((2, 3),), {"exponent": -2.0}),
    ("cdist_of_parts", ((2, 3), (2, 3)), {"p": 3.0}),
    # Corners that the catalogue's draws leave out.
    ("conv1d", ((2, 2, 2), (2, 2, 2), (2,)), {"stride": [1], "padding": [0], "dilation": [1], "groups": 1}),
    ("matmul", ((3,), (3,)), {}),
    ("matmul", ((3,), (2, 3, 4)), {}),
    ("matmul", ((2, 4, 3), (3,)), {}),
    ("matmul", ((2, 1, 4, 3), (5, 3, 2)), {}),
    ("bmm", ((3, 4, 3), (3, 3, 2)), {}),
    ("div", ((2, 3), (4, 1, 3)), {}),
    ("pow", ((3,), (2, 1)), {}),
    ("pow", ((2, 1), (3,)), {}),
    ("sum", ((2, 3, 4),), {"axis": [-1, 0], "keepdims": False}),
    ("mean", ((2, 3, 4),), {"axis": [-1, 0], "keepdims": False}),
    ("share_of", ((2, 3),), {"count": 6}),
    ("amax", ((2, 3, 4),), {"axis": [-1, 0], "keepdims": False}),
    ("split", ((2, 6),), {"sections": [1, 3, 2], "axis": -1}),
    ("unbind", ((2, 3, 2),), {"axis": -1}),
    ("cat", ((2, 1), (2, 3), (2, 2)), {"axis": -1}),
    ("stack", ((2, 3), (2, 3), (2, 3)), {"axis": -1}),
    ("batch_stack", ((2, 3), (2, 3)), {"axis": 0}),
    ("batch_getitem_int", ((2, 3),), {"index": 1}),
    ("index_select", ((2, 3, 2),), {"axis": -2, "index": [0, -1, 0]}),
    ("gather", ((3, 4),), {"axis": -1, "index": [[0, 3, 3], [1, 1, 0]]}),
    ("softmax", ((2, 3, 4),), {"axis": 1}),
    ("log_softmax", ((2, 3, 4),), {"axis": 1}),
    *((op, ((),), {"axis": axis}) for op in ("cumsum", "cumprod", "softmax", "log_softmax", "flip") for axis in (0, -1)),
    ("glu", ((2, 4, 3),), {"axis": 1}),
    ("topk", ((2, 4),), {"k": 3, "axis": -1}),
    ("pow_scalar", ((2, 3),), {"exponent": 1.0}),
    ("pow_scalar", ((2, 3),), {"exponent": -2.0}),
    # float64 to float32 and back would measure the rounding of float32, not the rule.
    ("cast", ((2, 3),), {"dtype": "longdouble"}),
    ("cast", ((2, 3),), {"dtype": "complex128"}),
    ("from_real", ((2, 3),), {}),
    ("from_imag", ((2, 3),), {}),
    ("picked", ((3, 4),), {"axis": -1, "kind": "upper", "at": 0.5, "skipping": False, "keepdims": True}),
    ("mode_of_selected_of_parts", ((3, 2),), {"index": [1, 0, 1], "axis": 1, "keepdims": False}),
    ("mode", ((3, 4),), {"axis": -1, "keepdims": True}),
    ("centred", ((2, 3, 2),), {"axis": [0, -1]}),
    ("centred", ((2, 3),), {"axis": None}),
    ("without_nan", ((2, 3),), {}),
    ("nansum_of_parts", ((2, 3),), {"axis": [1], "keepdims": False}),
    ("nanmean_of_parts", ((2, 3),), {"axis": [1], "keepdims": False}),
    # What depends on operands in jumps alone, far from which these lie.
    ("flat", ((2, 3), (2, 3)), {"along": "y"}),
    ("unit_of", ((2, 3),), {"axes": [1]}),
    ("part_of_neighbour", ((2, 4),), {"kind": "upper", "at": 0.3, "axis": 1}),
    ("part_picked", ((2, 4),), {"axis": 1, "kind": "upper", "at": 0.3, "keepdims": False}),
)


def _softplus_far(x: Any) -> Any:
    return OPS["softplus"](OPS["add_scalar"](x, other=25.0), beta=1.5)


def _rest_of_squares(x: Any) -> Any:
    return OPS["gammainc_of_rest"](OPS["square"](x), a=[[0.5, 1.0, 2.0], [1.5, 3.0, 7.5]])


def _parts_squared(op: str) -> Callable[[Any], Any]:
    """Square the parts of a decomposition of a matrix that is symmetric and far from singular: their signs are anybody's."""

    def function(x: Any) -> Any:
        away = OPS["add"](x, np.eye(*x.shape) * np.array([4.0, -8.0, 12.0][: x.shape[1]]))
        if op == "eigh":
            away = OPS["add"](away, OPS["t"](away))
        return tuple(OPS["square"](part) for part in OPS[op](away))

    return function


SPECTRA = (
    *(f"{name}_of_parts" for name in ("cond", "eigh_invariant", "eigvalsh", "qr_invariant", "qr_triangle", "svd_invariant", "svdvals")),
    *(f"{name}_of_symmetric" for name in ("cholesky", "eigh_invariant", "eigvalsh")),
)


def _sizes_of_pairs(x: Any) -> tuple[Any, ...]:
    """Return the squares of the sizes of eigenvectors of a matrix with complex eigenvalues, and these."""
    away = OPS["add"](x, np.array([[0.0, 5.0, 0.0], [0.0, 0.0, 6.0], [7.0, 0.0, 0.0]]))
    w, v = OPS["eig"](away)
    return OPS["real"](OPS["mul"](v, OPS["conj"](v))), OPS["real"](w), OPS["imag"](w)


def _far_from_singular(op: str, **attrs: Any) -> Callable[[Any], Any]:
    return lambda x: OPS[op](OPS["add"](x, np.diag([4.0, 5.5, 7.5])), **attrs)


def _solved_from_right(x: Any, y: Any) -> Any:
    return OPS["solve_from_right"](OPS["add"](x, np.diag([4.0, 5.5, 7.5])), y)


def _of_probabilities(op: str, **attrs: Any) -> Callable[[Any], Any]:
    return lambda x: OPS[op](OPS["sigmoid"](x), target=[[1.0, 0.0, 0.5], [0.25, 0.75, 1.0]], **attrs)


def _of_probabilities_in_target(op: str, **attrs: Any) -> Callable[[Any, Any], Any]:
    return lambda x, y: OPS[op](OPS["sigmoid"](x), OPS["sigmoid"](y), **attrs)


def _diverging_from_positive(op: str) -> Callable[[Any, Any], Any]:
    return lambda x, y: OPS[op](x, OPS["exp"](y), reduction="batchmean")


def _reached_of_own_maximum(x: Any) -> Any:
    return OPS["reached"](x, OPS["amax"](x, axis=[0], keepdims=True), axis=0, ties="first")


ROW, COLUMN = (np.array([[[0.0, 1.0, 1.0, 4.0]]]), np.array([[[1.0, 2.0, 2.0, 0.0]]]))
"""Whole numbers; the last point is beyond the edge, and two are one."""


def _picked(x: Any) -> Any:
    return OPS["pick"](x, ROW, COLUMN, beyond=(0, -1))


def _placed(x: Any) -> Any:
    return OPS["place"](x, ROW, COLUMN, beyond=(0, -1), size=(2, 3))


def _beyond_two(op: str, **attrs: Any) -> Callable[..., Any]:
    """Have factors of reflections lie above 2, far from where one has no inverse."""
    return lambda x, tau, y: OPS[op](x, OPS["add_scalar"](OPS["square"](tau), other=2.0), y, **attrs)


def _dft_of_real(x: Any) -> Any:
    return OPS["dft"](OPS["from_real"](x), axes=[0, -1], sign=1)


def _beyond_one(x: Any) -> Any:
    return OPS["multigammaln_of_parts"](OPS["add_scalar"](OPS["square"](x), other=1.125), p=3)


FUNCTIONS: tuple[tuple[str, Callable[..., Any], Shapes], ...] = (
    ("softplus", _softplus_far, ((2, 3),)),
    ("multigammaln_of_parts", _beyond_one, ((2, 3),)),
    ("gammainc_of_rest", _rest_of_squares, ((2, 3),)),
    ("entropy", _of_probabilities("entropy"), ((2, 3),)),
    (
        "binary_cross_entropy_of_terms",
        _of_probabilities("binary_cross_entropy_of_terms", weight=[2.0, 0.5, 0.0], reduction="mean"),
        ((2, 3),),
    ),
    *((op, _diverging_from_positive(op), ((2, 3), (2, 3))) for op in ("kl_div_in_target_of_parts", "kl_div_in_target_of_terms")),
    ("entropy_in_target", _of_probabilities_in_target("entropy_in_target"), ((2, 3), (2, 3))),
    (
        "binary_cross_entropy_in_target_of_terms",
        _of_probabilities_in_target("binary_cross_entropy_in_target_of_terms", weight=[2.0, 0.5, 0.0], reduction="mean"),
        ((2, 3), (2, 3)),
    ),
    ("pick", _picked, ((1, 2, 2, 3),)),
    ("place", _placed, ((1, 2, 1, 4),)),
    ("dft", _dft_of_real, ((3, 2),)),
    ("ormqr", _beyond_two("ormqr", left=True, transposed=False), ((3, 2), (2,), (3, 2))),
    ("ormqr", _beyond_two("ormqr", left=False, transposed=False), ((3, 2), (2,), (1, 3))),
    ("ormqr_of_parts", _beyond_two("ormqr_of_parts", left=False, transposed=True), ((2, 2), (2,), (3, 2))),
    ("svd", _parts_squared("svd"), ((3, 2),)),
    ("svd", _parts_squared("svd"), ((2, 3),)),
    ("eigh", _parts_squared("eigh"), ((3, 3),)),
    ("qr", _parts_squared("qr"), ((3, 2),)),
    ("eig", _sizes_of_pairs, ((3, 3),)),
    *(("eig_invariant_of_parts", _far_from_singular("eig_invariant_of_parts", shift=shift), ((3, 3),)) for shift in (0, 1)),
    *((op, _far_from_singular(op), ((3, 3),)) for op in SPECTRA),
    ("solve_from_right", _solved_from_right, ((3, 3), (2, 3))),
    ("matrix_power_of_products", _far_from_singular("matrix_power_of_products", n=-2), ((3, 3),)),
    ("matrix_norm_of_parts", _far_from_singular("matrix_norm_of_parts", order="nuc", keepdims=True), ((3, 3),)),
    # An extremum moves with its operand: a share of another tensor's extremum would be 0 / 0.
    ("reached", _reached_of_own_maximum, ((3, 2),)),
)
"""Ops at arguments that a row cannot say: the function calls the op."""

CONSTANT: tuple[tuple[str, Shapes, dict[str, Any]], ...] = (
    ("inside", ((2, 3),), {"low": -0.2, "high": 0.2}),
    ("sign", ((2, 3),), {}),
    ("side_of_zero", ((2, 3),), {}),
    ("exceeds", ((2, 3),), {"bound": 0.2}),
    ("step", ((2, 3), (2, 3)), {}),
    ("preference", ((2, 3), (2, 3)), {}),
    ("chosen", ((2, 3), (2, 3)), {"larger": True}),
    ("not_below", ((2, 3), (2, 3)), {}),
    ("between", ((2, 3),), {"low": -0.2, "high": 0.2}),
    ("outside", ((2, 3),), {"bound": 0.3}),
    ("leaky_slope", ((2, 3),), {"slope": 0.25, "at_zero": 1.0}),
    ("floor", ((3,),), {}),
    ("whole_quotient", ((4,), (4,)), {}),
    ("ceil", ((3,),), {}),
    ("trunc", ((3,),), {}),
    ("round", ((2, 3),), {}),
    ("largest", ((2, 4),), {"k": 2, "axis": 1}),
    ("order", ((2, 4),), {"axis": 1, "descending": True}),
    ("place_of_mode", ((2, 4),), {"axis": 1}),
    ("unit_of_mantissa", ((4,),), {}),
    ("position_of", ((2, 4),), {"axis": 1, "kind": "lower", "at": 0.5, "skipping": False}),
    ("record", ((2, 4),), {"axis": 1, "larger": True}),
    ("row_order", ((4, 3),), {}),
    ("numbered", ((2, 3),), {}),
    ("finite", ((2, 3),), {}),
    ("turn", ((2, 3), (3,)), {}),
)
"""Piecewise constant ops: all there is to check is that their derivative is 0."""


def operands_for(op: str, shapes: Shapes, random: np.random.Generator) -> list[np.ndarray[Any, Any]]:
    """Draw operands inside the op's domain."""
    made = OPS[op]
    domain = made.domain if isinstance(made, Primitive) else {}
    names = made.operands if isinstance(made, Primitive) else ()
    counts = [math.prod(shape) for shape in shapes]
    # No two sizes of all operands are the same or close, so that no extremum and no comparison is near a tie.
    sizes = np.split(random.permutation(np.linspace(0.4, 2.4, sum(counts))), np.cumsum(counts)[:-1])
    drawn = []
    for i, (shape, size) in enumerate(zip(shapes, sizes, strict=True)):
        positive = op == "pow_scalar" or (i < len(names) and domain.get(names[i]) == Domain.POSITIVE)
        drawn.append((size if positive else size * random.choice([-1.0, 1.0], size.shape)).reshape(shape))
    return drawn
