"""Point times by the names, units and clocks of drivers; a clock that starts again within the scan."""

from __future__ import annotations

import numpy as np
import pytest

from prnet_core.io.point_times import time_field, times_from_stamp

SWEEP = np.linspace(0.0, 0.0999, 2000)
STAMP = 1700000000.25


@pytest.mark.parametrize(
    "name, unit",
    [
        ("t", None), ("time", None), ("timestamp", None), ("time_stamp", None), ("offset_time", None),
        ("time_offset", None), ("timeOffset", None), ("TimeOffset", None), ("relative_time", None), ("ts", None),
        ("stamp", None), ("point_time", None), ("Timestamp", None), ("TIME", None), ("deltaTime", None),
        ("time_offset_ns", 1e-9), ("offset_ns", 1e-9), ("t_ns", 1e-9), ("timestamp_us", 1e-6), ("t_us", 1e-6),
        ("time_ms", 1e-3), ("timestampNs", 1e-9), ("timeOffsetNs", 1e-9), ("time_s", 1.0), ("timestamp_sec", 1.0),
        ("relative_time_usec", 1e-6),
    ],
)  # fmt: skip
def test_names_of_time_fields_and_their_units(name, unit):
    assert time_field(name)[1] == unit


@pytest.mark.parametrize(
    "name", ["x", "intensity", "ring", "offset", "tag", "type", "rgb", "curvature", "temperature", "ns", "times_seen"]
)
def test_names_of_other_fields(name):
    assert time_field(name) is None


def test_a_unit_in_the_name_decides():
    times, reason = times_from_stamp(SWEEP * 1e9, STAMP, is_integer=False, unit=1e-9)
    np.testing.assert_allclose(times, SWEEP, atol=1e-9)
    assert reason == ""
    slow = np.linspace(0.0, 2.0, 100)  # a scanner that takes two seconds: by its length it would be milliseconds
    times, _ = times_from_stamp(np.round(slow * 1e3), STAMP, is_integer=True, unit=1e-3)
    np.testing.assert_allclose(times, slow, atol=1e-3)


@pytest.mark.parametrize(
    "unit, period",
    [
        (1e-6, 3600e6),  # microseconds of the hour: Velodyne's packets
        (1e-6, 1e6), (1e-9, 1e9), (1e-3, 1e3), (1.0, 1.0),  # of the second
        (1e-6, 60e6), (1.0, 60.0), (1.0, 3600.0), (1e-9, 3600e9),
        (1e-3, 86400e3), (1.0, 604800.0),  # of the day, of the GPS week
        (1e-9, 2.0**32), (1e-6, 2.0**32),  # a full uint32
    ],
)  # fmt: skip
@pytest.mark.parametrize("after", [0.1, 0.5, 0.93])
def test_a_clock_that_starts_again_is_unwrapped(unit, period, after):
    values = np.mod(period - SWEEP[-1] * after / unit + SWEEP / unit, period)
    times, reason = times_from_stamp(values, STAMP, is_integer=False)
    assert reason == ""
    np.testing.assert_allclose(times, SWEEP, atol=2e-6)
    shuffled = np.random.default_rng(0).permutation(len(SWEEP))
    np.testing.assert_allclose(times_from_stamp(values[shuffled], STAMP, False)[0], SWEEP[shuffled], atol=2e-6)


@pytest.mark.parametrize("after", [0.003, 0.015, 0.05, 0.5, 0.985, 0.997])
@pytest.mark.parametrize(
    "unit, period",
    [
        (1e-6, 2.0**20), (1e-6, 2.0**22), (1e-6, 2.0**26), (1e-6, 2.0**31), (1e-9, 2.0**30), (1e-9, 2.0**31),
        (1e-6, 1e7), (1e-6, 1e8), (1e-6, 3e5), (1e-6, 43200e6), (1e-5, 1e5), (1e-7, 2.0**32), (1 / 90000, 2.0**32),
    ],
)  # fmt: skip
def test_a_clock_of_any_period_is_unwrapped_however_few_points_lie_before(unit, period, after):
    values = np.mod(np.round(period - SWEEP[-1] * after / unit + SWEEP / unit), period)
    times, reason = times_from_stamp(values, STAMP, True, None if unit in (1e-6, 1e-9) else unit)
    assert reason == ""
    difference = times - SWEEP
    np.testing.assert_allclose(difference - np.median(difference), 0.0, atol=3e-4)


def test_two_groups_that_are_no_rollover_are_dropped_from_one_percent_on():
    values = np.r_[3e9 + SWEEP[:1980] * 1e9, 1.2e9 + SWEEP[1980:] * 1e9]
    times, reason = times_from_stamp(values, STAMP, True, 1e-9)
    assert times is None and "apart" in reason


@pytest.mark.parametrize("start", [0.0, 0.06, 0.2, 0.4, 3.0, 7.5, 100.0, 3000.0])
def test_a_clock_of_the_sensors_own_begins_at_the_stamp(start):
    """Also shortly after it started again: 3 s after it, the times are not 3 s after the stamp."""
    values = np.round((start + SWEEP) * 1e6)
    np.testing.assert_allclose(times_from_stamp(values, STAMP, is_integer=True)[0], SWEEP, atol=2e-6)


def test_a_sector_of_a_sweep_keeps_its_offset():
    for sector in (np.linspace(0.05, 0.07, 300), np.linspace(0.025, 0.1, 300), np.linspace(-0.1, -0.02, 300)):
        np.testing.assert_allclose(times_from_stamp(sector * 1e9, STAMP, is_integer=True)[0], sector, atol=1e-9)


def test_two_sectors_of_a_sweep_are_no_rollover():
    sectors = np.r_[np.linspace(0.0, 0.01, 300), np.linspace(0.09, 0.1, 300)]
    np.testing.assert_allclose(times_from_stamp(sectors * 1e9, STAMP, is_integer=True)[0], sectors, atol=1e-9)


def test_times_far_apart_are_dropped_with_a_reason():
    rng = np.random.default_rng(0)
    for values in (
        np.r_[SWEEP, 5.0 + SWEEP] * 1e9,
        rng.uniform(0, 2**32, 500),
        np.r_[3.1e9 + SWEEP * 1e6, 1e7 + SWEEP * 1e6],
    ):
        times, reason = times_from_stamp(values, STAMP, is_integer=True, unit=1e-6)
        assert times is None and ("apart" in reason)


def test_zeros_of_points_without_a_time_do_not_matter():
    values = np.r_[np.zeros(300), STAMP + SWEEP]
    times, _ = times_from_stamp(values, STAMP, is_integer=False)
    np.testing.assert_allclose(times[300:], SWEEP, atol=1e-6)
    assert np.abs(times).max() < 0.3
