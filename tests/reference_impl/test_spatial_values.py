"""Convolutions, windows, resampling, attention and distances against their definitions, element by element, in plain loops."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from reference_impl import OPS, Tensor, grad

RANDOM = np.random.default_rng(5)


def drawn(*shape: int) -> Any:
    return RANDOM.normal(size=shape)


def convolved(x: Any, w: Any, b: Any, *, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """Sum weight times element over channels and kernel, for each sample, output channel and place."""
    rank = len(stride)
    n, o, per = len(x), len(w), w.shape[1]
    sizes = [(x.shape[2 + a] + 2 * padding[a] - dilation[a] * (w.shape[2 + a] - 1) - 1) // stride[a] + 1 for a in range(rank)]
    out = np.zeros((n, o, *sizes))
    for i, j, *at in np.ndindex(*out.shape):
        total = b[j]
        for c, *k in np.ndindex(*w.shape[1:]):
            place = [at[a] * stride[a] + k[a] * dilation[a] - padding[a] for a in range(rank)]
            if all(0 <= p < x.shape[2 + a] for a, p in enumerate(place)):
                total += w[(j, c, *k)] * x[(i, j // (o // groups) * per + c, *place)]
        out[(i, j, *at)] = total
    return out


CONVOLUTIONS = (
    ("conv1d", (2, 2, 6), (4, 1, 3), {"stride": [2], "padding": [1], "dilation": [1], "groups": 2}),
    ("conv2d_biased", (1, 2, 5, 4), (3, 2, 2, 3), {"stride": [2, 1], "padding": [1, 2], "dilation": [2, 1], "groups": 1}),
    ("conv2d_biased", (1, 3, 3, 3), (3, 1, 1, 1), {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "groups": 3}),
    ("conv3d", (1, 2, 3, 4, 2), (2, 1, 2, 2, 1), {"stride": [1, 2, 1], "padding": [0, 1, 1], "dilation": [1, 2, 1], "groups": 2}),
)


@pytest.mark.parametrize(("op", "of_x", "of_w", "attrs"), CONVOLUTIONS)
def test_a_convolution_is_the_sum_of_what_lies_under_the_kernel(op: str, of_x: Any, of_w: Any, attrs: Any) -> None:
    x, w, b = drawn(*of_x), drawn(*of_w), drawn(of_w[0])
    assert np.allclose(convolved(x, w, b, **attrs), OPS[op](x, w, b, **attrs))


@pytest.mark.parametrize(("op", "of_x", "of_w", "attrs"), CONVOLUTIONS)
def test_a_transposed_convolution_is_the_transpose(op: str, of_x: Any, of_w: Any, attrs: Any) -> None:
    x, w, zero = drawn(*of_x), drawn(*of_w), np.zeros
    y = drawn(*convolved(x, w, zero(of_w[0]), **attrs).shape)
    along = range(len(attrs["stride"]))
    short = [(y.shape[2 + a] - 1) * attrs["stride"][a] + attrs["dilation"][a] * (of_w[2 + a] - 1) + 1 for a in along]
    added = [of_x[2 + a] + 2 * attrs["padding"][a] - short[a] for a in along]
    name = f"conv_transpose{len(along)}d"
    back = OPS[name](y, w, zero(of_x[1]), added=added, **attrs)
    assert (of_x, True) == (back.shape, np.isclose(np.sum(convolved(x, w, zero(of_w[0]), **attrs) * y), np.sum(x * back)))


def test_the_bias_of_a_transposed_convolution_is_added_once_to_each_channel() -> None:
    x, w, b = drawn(1, 2, 3), drawn(2, 2, 2), drawn(2)
    attrs: dict[str, Any] = {"stride": [2], "padding": [1], "added": [1], "dilation": [1], "groups": 1}
    found = OPS["conv_transpose1d"](x, w, b, **attrs) - OPS["conv_transpose1d"](x, w, np.zeros(2), **attrs)
    assert np.allclose(np.broadcast_to(b[:, None], found.shape), found)


UNFOLD: dict[str, Any] = {"kernel": [2, 1], "stride": [1, 2], "padding": [1, 0], "dilation": [2, 1]}


def test_unfold_has_a_column_for_each_position_of_the_kernel() -> None:
    x = drawn(1, 2, 3, 3)
    wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)))
    columns = [[wide[0, c, i + 2 * k, j] for c in range(2) for k in range(2)] for i in range(3) for j in (0, 2)]
    assert np.array_equal(np.array(columns).T[None], OPS["nn_unfold"](x, **UNFOLD))


def test_fold_is_the_transpose_of_unfold() -> None:
    x, y = drawn(1, 2, 3, 3), drawn(1, 4, 6)
    assert np.isclose(np.sum(OPS["nn_unfold"](x, **UNFOLD) * y), np.sum(x * OPS["nn_fold"](y, size=[3, 3], **UNFOLD)))


def test_pooling_in_three_dimensions_goes_over_blocks() -> None:
    x = drawn(1, 1, 4, 4, 4)
    blocks = x.reshape(1, 1, 2, 2, 2, 2, 2, 2)
    attrs = {"kernel": [2] * 3, "stride": [2] * 3, "padding": [0] * 3}
    assert np.allclose(blocks.mean((3, 5, 7)), OPS["avg_pool3d"](x, **attrs))
    assert np.array_equal(blocks.max((3, 5, 7)), OPS["max_pool3d"](x, **attrs))


@pytest.mark.parametrize(
    ("length", "kernel", "stride", "padding", "means"),
    [
        (5, 2, 2, 0, ["1.5", "3.5", "5"]),  # the last window has one place, and its mean is that
        (5, 2, 2, 1, ["0.5", "2.5", "4.5"]),  # a window of the border alone is left out
        (6, 2, 3, 0, ["1.5", "4.5"]),  # and so is one behind all places
        (6, 3, 3, 1, ["1", "4", "3"]),  # the border counts, (6 + 0) / 2, and what is behind it does not
    ],
)
def test_windows_that_are_rounded_up_begin_within_and_count_what_they_have(
    length: int, kernel: int, stride: int, padding: int, means: list[str]
) -> None:
    x = np.arange(1.0, length + 1)[None, None]
    found = OPS["avg_pool1d_ceil"](x, kernel=[kernel], stride=[stride], padding=[padding])
    assert np.array_equal([[[float(mean) for mean in means]]], found)


def test_windows_of_a_volume_that_are_rounded_up_are_those_along_each_axis() -> None:
    x = drawn(1, 2, 4, 3, 5)
    found = x
    for axis, (kernel, stride) in enumerate([(3, 2), (2, 1), (2, 2)], start=2):  # without a border, means are taken axis by axis
        lines = np.moveaxis(found, axis, -1)
        flat = OPS["avg_pool1d_ceil"](lines.reshape(1, -1, lines.shape[-1]), kernel=[kernel], stride=[stride], padding=[0])
        found = np.moveaxis(flat.reshape(*lines.shape[:-1], -1), -1, axis)
    assert np.allclose(found, OPS["avg_pool3d_ceil"](x, kernel=[3, 2, 2], stride=[2, 1, 2], padding=[0, 0, 0]), rtol=1e-14)


@pytest.mark.parametrize(("kind", "reduce"), [("avg", np.mean), ("max", np.max)])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_adaptive_pooling_goes_over_parts_that_overlap(kind: str, reduce: Any, rank: int) -> None:
    places, size = (5, 4, 3)[:rank], [3, 3, 2][:rank]
    x, found = drawn(1, 2, *places), np.zeros((1, 2, *size))
    for at in np.ndindex(*size):
        part = tuple(slice(i * n // k, math.ceil((i + 1) * n / k)) for i, n, k in zip(at, places, size, strict=True))
        found[(slice(None), slice(None), *at)] = reduce(x[(slice(None), slice(None), *part)], axis=tuple(range(2, 2 + rank)))
    assert np.allclose(found, OPS[f"adaptive_{kind}_pool{rank}d"](x, size=size))


def point(i: int, length: int, size: int, *, aligned: bool) -> float:
    if aligned:
        return i * (length - 1) / (size - 1) if size > 1 else 0.0
    return (i + 0.5) * length / size - 0.5


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_linear_interpolation_follows_the_line_between_neighbours(size: int, aligned: bool) -> None:
    x = drawn(1, 1, 3)
    wanted = [np.interp(point(i, 3, size, aligned=aligned), range(3), x[0, 0]) for i in range(size)]
    assert np.allclose(wanted, OPS["interpolate_linear"](x, size=[size], align_corners=aligned)[0, 0])


@pytest.mark.parametrize("op", ["interpolate_bilinear", "interpolate_bicubic"])
def test_images_are_interpolated_axis_by_axis(op: str) -> None:
    x = drawn(1, 1, 3, 4)
    rows = OPS[op](x, size=[5, 4], align_corners=False)
    assert np.allclose(OPS[op](rows, size=[5, 6], align_corners=False), OPS[op](x, size=[5, 6], align_corners=False))


def test_cubic_interpolation_is_a_cubic_between_its_points() -> None:
    x = drawn(1, 1, 1, 6)
    found = OPS["interpolate_bicubic"](x, size=[1, 26], align_corners=True)[0, 0, 0]  # five steps from place to place
    assert np.allclose(x[0, 0, 0], found[::5])
    assert np.allclose(0, np.diff(found[10:16], 4))
    assert np.allclose((x[0, 0, 0, 3] - x[0, 0, 0, 1]) * 0.75, slope_at_start(found[10:16], 0.2))  # Keys: a = -0.75


def slope_at_start(samples: Any, step: float) -> float:
    return float(np.polynomial.Polynomial.fit(np.arange(6) * step, samples, 3).deriv()(0.0))


def test_the_nearest_element_is_the_one_before_the_point() -> None:
    x = drawn(1, 1, 3, 2)
    assert np.array_equal(x[:, :, [0, 0, 1, 1, 2]][..., [0, 1]], OPS["interpolate_nearest"](x, size=[5, 2]))


@pytest.mark.parametrize("aligned", [True, False])
def test_a_grid_reads_between_the_four_places_around_its_point(aligned: bool) -> None:
    x, grid = drawn(2, 2, 3, 4), RANDOM.uniform(-1.5, 1.5, (2, 2, 3, 2))
    wanted = np.zeros((2, 2, 2, 3))
    for n, i, j in np.ndindex(2, 2, 3):
        at = [(g + 1) / 2 * (k - 1) if aligned else ((g + 1) * k - 1) / 2 for g, k in zip(grid[n, i, j], (4, 3), strict=True)]
        for row, column in itertools.product(range(3), range(4)):
            share = max(0.0, 1 - abs(at[1] - row)) * max(0.0, 1 - abs(at[0] - column))
            wanted[n, :, i, j] += share * x[n, :, row, column]
    assert np.allclose(wanted, OPS["grid_sample_bilinear"](x, grid, align_corners=aligned))


@pytest.mark.parametrize(("aligned", "xs", "ys"), [(True, [-1, 0, 1], [-1, 1]), (False, [-2 / 3, 0, 2 / 3], [-0.5, 0.5])])
def test_an_affine_grid_moves_the_points_of_an_image(aligned: bool, xs: Any, ys: Any) -> None:
    theta = drawn(1, 2, 3)
    wanted = np.array([[theta[0] @ (x, y, 1.0) for x in xs] for y in ys])
    assert np.allclose(wanted[None], OPS["affine_grid"](theta, size=[1, 1, 2, 3], align_corners=aligned))


def test_pixels_are_shuffled_into_squares_and_back() -> None:
    x = drawn(1, 8, 2, 3)
    found = OPS["pixel_shuffle"](x, factor=2)
    assert all(x[0, 4 * c + 2 * (i % 2) + j % 2, i // 2, j // 2] == found[0, c, i, j] for c, i, j in np.ndindex(2, 4, 6))
    assert np.array_equal(x, OPS["pixel_unshuffle"](found, factor=2))


@pytest.mark.parametrize("name", ["scaled_dot_product_attention", "scaled_dot_product_attention_causal"])
@pytest.mark.parametrize("spelling", ["", "_of_turned"])
def test_attention_is_a_mean_of_values_by_how_alike_keys_are(name: str, spelling: str) -> None:
    query, key, value = drawn(1, 2, 3, 2), drawn(1, 2, 4, 2), drawn(1, 2, 4, 3)
    wanted = np.zeros((1, 2, 3, 3))
    for n, head, i in np.ndindex(1, 2, 3):
        seen = range(i + 1 if "causal" in name else 4)
        likes = [math.exp(query[n, head, i] @ key[n, head, j] / math.sqrt(2)) for j in seen]
        wanted[n, head, i] = sum(like * value[n, head, j] for like, j in zip(likes, seen, strict=True)) / sum(likes)
    assert np.allclose(wanted, OPS[name + spelling](query, key, value))


def test_a_bilinear_form_has_a_matrix_for_each_output() -> None:
    x, y, w, b = drawn(3, 4), drawn(3, 2), drawn(5, 4, 2), drawn(5)
    forms = np.einsum("ni,oij,nj->no", x, w, y) + b
    assert all(np.allclose(forms, OPS[op](x, y, w, b)) for op in ("bilinear", "bilinear_as_one", "bilinear_of_turned"))


def test_vectors_are_divided_by_their_length_or_by_the_bound() -> None:
    x = np.array([[3.0, 4.0], [0.0, 0.0], [0.06, 0.08]])
    wanted = [[0.6, 0.8], [0.0, 0.0], [0.12, 0.16]]
    assert all(np.allclose(wanted, OPS[op](x, axis=1, eps=0.5)) for op in ("normalize", "normalize_by_maximum"))


def test_cosines_and_distances_are_those_of_rows() -> None:
    x, y = drawn(3, 4), drawn(3, 4)
    cosines = [a @ b / math.sqrt((a @ a) * (b @ b)) for a, b in zip(x, y, strict=True)]
    lengths = [math.dist(a + 0.125, b) for a, b in zip(x, y, strict=True)]
    for spelling in ("", "_of_squares"):
        assert np.allclose(cosines, OPS[f"cosine_similarity{spelling}"](x, y, axis=-1, eps=1e-8))
        losses = [1 - cosines[0], max(0.0, cosines[1] - 0.25), 1 - cosines[2]]
        attrs: dict[str, Any] = {"target": [1.0, -1.0, 1.0], "margin": 0.25, "reduction": "none"}
        assert np.allclose(losses, OPS[f"cosine_embedding_loss{spelling}"](x, y, **attrs))
    for spelling in ("", "_by_tensor"):
        assert np.allclose(lengths, OPS[f"pairwise_distance{spelling}"](x, y, eps=0.125, keepdims=False))
        attrs = {"margin": 0.5, "eps": 0.125, "reduction": "sum"}
        far = [math.dist(a + 0.125, a) for a in x]
        wanted = sum(max(0.0, near - other + 0.5) for near, other in zip(lengths, far, strict=True))
        assert np.isclose(wanted, OPS[f"triplet_margin_loss{spelling}"](x, y, x, **attrs))


def test_the_likelihood_of_a_normal_distribution_bounds_its_variance() -> None:
    x, y, v = drawn(4), drawn(4), np.array([0.25, 0.75, 1.0, 2.0])
    wanted = [(math.log(max(s, 0.5)) + (a - b) ** 2 / max(s, 0.5)) / 2 for a, b, s in zip(x, y, v, strict=True)]
    assert np.allclose(wanted, OPS["gaussian_nll_loss"](x, y, -np.sqrt(v), eps=0.5, reduction="none"))


def test_labels_are_independent_of_each_other() -> None:
    x, t = drawn(2, 3), np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    share = 1 / (1 + np.exp(-x))
    wanted = -(t * np.log(share) + (1 - t) * np.log(1 - share)).mean(-1)
    for spelling in ("", "_by_mean"):
        assert np.allclose(wanted, OPS[f"multilabel_soft_margin_loss{spelling}"](x, target=t.tolist(), reduction="none"))


def test_an_infinite_element_of_a_kernel_meets_no_zero_beyond_the_results() -> None:
    x = Tensor(np.array([[[[1.0], [2.0]]]]), requires_grad=True)
    y = OPS["conv2d"](x, np.array([[[[np.inf], [3.0]]]]), padding=[0, 0])
    (g,) = grad(y, [x], [Tensor(np.ones((1, 1, 1, 1)))])
    assert g is not None
    assert [np.inf, 3.0] == g.array.reshape(-1).tolist()
