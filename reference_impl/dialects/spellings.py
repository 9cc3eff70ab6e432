"""What a framework makes of an op: by the name of an op, the op of this package that does it that way.

What is freed, refused and linked follows the parts, and so does what a pass that ends early has left behind: which leaf has its
gradient first is a matter of how many nodes lie above it. Measured, op by op.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_TORCH: Mapping[str, str] = {
    "adaptive_avg_pool1d": "adaptive_avg_pool1d_or_mean",
    "adaptive_avg_pool2d": "adaptive_avg_pool2d_or_mean",
    "adaptive_avg_pool3d": "adaptive_avg_pool3d_or_mean",
    "cartesian_prod": "cartesian_prod_of_parts",
    "cond": "cond_of_parts",
    "eigh_invariant": "eigh_invariant_of_parts",
    "eigvalsh": "eigvalsh_of_parts",
    "inner": "inner_of_rows",
    "interpolate_area": "adaptive_avg_pool2d_or_mean",
    "lstm": "lstm_by_dtype",
    "matrix_norm": "matrix_norm_of_parts",
    "matrix_power": "matrix_power_of_products",
    "meshgrid": "meshgrid_of_parts",
    "qr_invariant": "qr_invariant_of_parts",
    "svd_invariant": "svd_invariant_of_parts",
    "svdvals": "svdvals_of_parts",
}

OF_PADDLE: Mapping[str, str] = {
    "atan2": "atan2_of_expanded",
    "bilinear": "bilinear_of_turned",
    "binary_cross_entropy": "binary_cross_entropy_of_terms",
    "binary_cross_entropy_with_logits": "binary_cross_entropy_with_logits_by_mean_all",
    "block_diag": "block_diag_of_joins",
    "cdist": "cdist_of_parts",
    "cholesky": "cholesky_of_symmetric",
    "cholesky_solve": "cholesky_solve_of_lower",
    "conv1d": "conv1d_of_parts",
    "conv2d_biased": "conv_of_parts",
    "conv3d": "conv_of_parts",
    "conv_transpose1d": "conv_transpose1d_of_parts",
    "conv_transpose2d": "conv_transpose_of_parts",
    "conv_transpose3d": "conv_transpose_of_parts",
    "cosine_embedding_loss": "cosine_embedding_loss_of_squares",
    "cosine_similarity": "cosine_similarity_of_squares",
    "cross_entropy": "cross_entropy_of_terms",
    "cross_entropy_soft": "cross_entropy_soft_of_terms",
    "cumulative_trapezoid_x": "cumulative_trapezoid_x_of_parts",
    "div": "div_by_quotient",
    "dropout_downscaled": "dropout_downscaled_as_one",
    "eigh_invariant": "eigh_invariant_of_symmetric",
    "eigvalsh": "eigvalsh_of_symmetric",
    "einsum": "einsum_as_one",
    "einsum_single": "einsum_single_as_one",
    "einsum_triple": "einsum_triple_by_pairs",
    "frac": "frac_of_parts",
    "glu": "glu_of_parts",
    "gru": "gru_as_one",
    "hinge_embedding_loss": "hinge_embedding_loss_by_relu",
    "inner": "inner_of_flattened",
    "l1_loss": "l1_loss_by_mean_all",
    "ldexp": "ldexp_of_parts",
    "linear": "linear_of_parts",
    "lstm": "lstm_as_one",
    "margin_ranking_loss": "margin_ranking_loss_by_relu",
    "masked_scatter": "masked_scatter_of_parts",
    "mse_loss": "mse_loss_of_parts",
    "multi_dot": "multi_dot_as_one",
    "multilabel_soft_margin_loss": "multilabel_soft_margin_loss_by_mean",
    "nanmean": "nanmean_of_parts",
    "nansum": "nansum_of_parts",
    "normalize": "normalize_by_maximum",
    "outer": "outer_of_parts",
    "pairwise_distance": "pairwise_distance_by_tensor",
    "ravel": "flatten",
    "rdiv_scalar": "rdiv_scalar_by_div",
    "rnn_tanh": "rnn_tanh_as_one",
    "scaled_dot_product_attention": "scaled_dot_product_attention_of_turned",
    "scaled_dot_product_attention_causal": "scaled_dot_product_attention_causal_of_turned",
    "soft_margin_loss": "soft_margin_loss_by_sum",
    "softsign": "softsign_as_one",
    "tanhshrink": "tanhshrink_as_one",
    "tensordot": "tensordot_of_needed",
    "trapezoid_x": "trapezoid_x_of_parts",
    "triplet_margin_loss": "triplet_margin_loss_by_tensor",
    "vecdot": "vecdot_of_parts",
    "where": "where_of_parts",
}
