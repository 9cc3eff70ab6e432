"""Unpooling, reductions of segments and normalizations by size against their definitions, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference_impl import OPS

RANDOM = np.random.default_rng(8)
ONE_WINDOW = {"kernel": [3], "stride": [1], "padding": [1]}


def drawn(*shape: int) -> Any:
    return RANDOM.normal(size=shape)


def test_an_unpooling_puts_each_element_at_its_flat_place_in_its_plane() -> None:
    x = drawn(1, 2, 2, 1)
    found = OPS["max_unpool2d"](x, index=[[[[5], [0]], [[2], [3]]]], kernel=[2, 2], stride=[1, 1], padding=[0, 0])
    assert found.shape == (1, 2, 3, 2)
    (a, b), (c, d) = x[0, :, :, 0].tolist()
    assert found[0].tolist() == [[[b, 0], [0, 0], [0, a]], [[0, 0], [c, d], [0, 0]]]


def test_of_several_elements_at_one_place_the_last_stays() -> None:
    assert OPS["max_unpool1d"](np.array([[[7.0, 8.0, 9.0]]]), index=[[[1, 1, 0]]], **ONE_WINDOW).tolist() == [[[9.0, 8.0, 0.0]]]


def test_elements_are_written_over_in_their_own_plane_alone() -> None:
    found = OPS["max_unpool1d"](np.array([[[7.0, 8.0, 9.0], [1.0, 2.0, 3.0]]]), index=[[[1, 1, 0], [1, 0, 1]]], **ONE_WINDOW)
    assert found.tolist() == [[[9.0, 8.0, 0.0], [2.0, 3.0, 0.0]]]


def test_an_unpooling_needs_memory_for_its_elements_and_not_for_all_pairs_of_them() -> None:
    x = np.arange(300_000.0).reshape(1, 1, -1)
    found = OPS["max_unpool1d"](x, index=[[[*range(x.size)]]], kernel=[1], stride=[1], padding=[0])
    np.testing.assert_array_equal(found, x)


def test_what_is_written_over_has_no_gradient() -> None:
    x, g = np.array([[[7.0, 8.0, 9.0]]]), np.array([[[1.0, 2.0, 3.0]]])
    pulled = OPS["max_unpool1d"].rule(0)(g, None, x, index=[[[1, 1, 0]]], **ONE_WINDOW)  # type: ignore[attr-defined]
    assert pulled.tolist() == [[[0.0, 2.0, 1.0]]]


@pytest.mark.parametrize(("mode", "reduce"), [("sum", np.sum), ("mean", np.mean), ("max", np.max), ("min", np.min)])
@pytest.mark.parametrize("shape", [(5,), (5, 2), (5, 2, 3)])
def test_rows_of_one_segment_become_one(mode: str, reduce: Any, shape: tuple[int, ...]) -> None:
    x = drawn(*shape)
    expected = [reduce(x[start:stop], axis=0) for start, stop in ((0, 1), (1, 4), (4, 5))]
    np.testing.assert_allclose(OPS[f"segment_{mode}"](x, index=[0, 1, 1, 1, 2]), expected, rtol=1e-14)


def test_the_sum_of_a_segment_without_rows_is_zero() -> None:
    assert OPS["segment_sum"](np.array([1.0, 2.0]), index=[1, 3]).tolist() == [0.0, 1.0, 0.0, 2.0]


@pytest.mark.parametrize("seed", [1.0, -1.0])
@pytest.mark.parametrize("op", ["segment_max", "segment_min"])
def test_elements_of_a_segment_that_tie_share_what_arrives(op: str, seed: float) -> None:
    x = np.array([3.0, 3.0, 5.0])
    pulled = OPS[op].rule(0)(np.array([seed, 7.0]), OPS[op](x, index=[0, 0, 1]), x, index=[0, 0, 1])  # type: ignore[attr-defined]
    assert pulled.tolist() == [seed / 2, seed / 2, 7.0]


@pytest.mark.parametrize("axes", [1, 2])
def test_rows_are_divided_by_the_root_of_the_mean_of_their_squares(axes: int) -> None:
    x = drawn(2, 3, 4)
    weight, over = drawn(*x.shape[-axes:]), tuple(range(-axes, 0))
    expected = x / np.sqrt(np.mean(x**2, axis=over, keepdims=True) + 0.01) * weight
    np.testing.assert_allclose(OPS["rms_norm"](x, weight, eps=0.01), expected, rtol=1e-14)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(2, 3, 2), (1, 5, 2, 3), (1, 3, 1, 2, 2)])
def test_responses_are_divided_by_a_power_of_what_neighbouring_channels_have(size: int, shape: tuple[int, ...]) -> None:
    x = drawn(*shape)
    expected = np.empty_like(x)
    for c in range(shape[1]):
        around = x[:, max(0, c - size // 2) : c + (size - 1) // 2 + 1]
        expected[:, c] = x[:, c] / (2.0 + 0.5 * np.sum(around**2, axis=1) / size) ** 0.75
    np.testing.assert_allclose(OPS["local_response_norm"](x, size=size, alpha=0.5, beta=0.75, k=2.0), expected, rtol=1e-13)


@pytest.mark.parametrize(("length", "kernel", "count", "starts"), [(6, 2, 3, [0, 2, 4]), (7, 2, 4, [0, 2, 3, 5]), (4, 3, 2, [0, 1])])
def test_regions_of_a_fractional_pooling_begin_where_a_step_and_a_sample_say(length: int, kernel: int, count: int, starts: Any) -> None:
    x = drawn(1, 2, length, length)
    expected = [[x[:, :, i : i + kernel, j : j + kernel].max(axis=(2, 3)) for j in starts] for i in starts]
    found = OPS["fractional_max_pool2d"](x, kernel=[kernel] * 2, size=[count] * 2, sample=0.37)
    assert np.moveaxis(expected, (0, 1), (2, 3)).tolist() == found.tolist()
