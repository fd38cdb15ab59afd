"""Counters become diagnostics."""

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from prnet_ros.node.counters import Counters, GapDetector  # noqa: E402
from prnet_ros.node.diagnostics import ERROR, OK, WARN, NodeState, status_of  # noqa: E402

ALL_WELL = {
    "node_name": "/robot/prnet",
    "topic": "/points",
    "sensor_frame": "lidar",
    "activity": "active",
    "num_publishers": 1,
    "seconds_without_data": 0.1,
    "no_data_timeout": 5.0,
    "missing_extrinsics": "",
    "setup_problem": "",
    "details": {"device": "cpu"},
}


def report(counters, earlier=None, **changes):
    earlier = Counters().copy() if earlier is None else earlier
    return status_of(counters.copy(), earlier, NodeState(**{**ALL_WELL, **changes}))


def values_of(status):
    return {value.key: value.value for value in status.values}


def test_all_is_well():
    counters = Counters()
    for name in ("received", "accepted", "registered"):
        counters.count(name, "98 % of the source lie on the target")
    counters.add_latency(0.020)
    counters.add_latency(0.040)
    status = report(counters)
    assert (status.level, status.message) == (OK, "1 scans registered since the last report")
    assert (status.name, status.hardware_id) == ("/robot/prnet: odometry", "lidar")
    values = values_of(status)
    assert values["received"] == values["registered"] == "1" and values["rejected"] == "0"
    assert values["latency_median_ms"] == "30.0" and values["device"] == "cpu"


@pytest.mark.parametrize(
    "name, level, words",
    [
        ("rejected", WARN, "1 scans rejected: why"),
        ("weak", WARN, "1 scans weak: why"),
        ("ignored", WARN, "1 scans ignored: why"),
        ("dropped", WARN, "1 scans dropped"),
        ("missing_by_stamps", WARN, "about 1 scans never arrived"),
        ("ambiguous", WARN, "1 scans ambiguous: why"),
        ("reset", WARN, "a new trajectory was started: why"),
        ("process_restarts", ERROR, "the registration process was restarted: why"),
        ("bad_cloud.empty", WARN, "1 unusable clouds (empty): why"),
        ("error.RuntimeError", ERROR, "1 x RuntimeError: why"),
    ],
)
def test_what_happened_is_reported_once_and_its_count_stays(name, level, words):
    counters = Counters()
    counters.count(name, "why")
    status = report(counters)
    assert status.level == level and words in status.message
    assert values_of(status)[name] == "1"
    later = report(counters, earlier=counters.copy())
    assert later.level == OK and values_of(later)[name] == "1"


@pytest.mark.parametrize(
    "changes, level, words",
    [
        ({"seconds_without_data": 7.2}, WARN, "no data for 7 s on /points (1 publishers)"),
        ({"missing_extrinsics": "no transform to 'base'"}, ERROR, "nothing is published: no transform to 'base'"),
        ({"setup_problem": "no CUDA device"}, ERROR, "no CUDA device"),
    ],
)
def test_states(changes, level, words):
    status = report(Counters(), **changes)
    assert status.level == level and words in status.message


def test_clouds_that_dds_may_lose():
    """A publisher that is matched, and nothing has ever arrived."""
    counters = Counters()
    assert "Large clouds" in report(counters, seconds_without_data=7.2).message
    assert "Large clouds" not in report(counters, seconds_without_data=7.2, num_publishers=0).message
    counters.count("received")
    assert "Large clouds" not in report(counters, seconds_without_data=7.2).message


@pytest.mark.parametrize("activity", ["inactive", "paused", "loading"])
def test_a_node_that_takes_no_scans_says_why_and_misses_none(activity):
    status = report(Counters(), activity=activity, seconds_without_data=100.0)
    assert (status.level, status.message) == (OK, activity)


def test_a_status_that_the_node_does_not_know_is_counted():
    counters = Counters()
    counters.count("levitating", "why")
    assert values_of(report(counters))["levitating"] == "1"


def test_the_worst_comes_first():
    counters = Counters()
    counters.count("dropped")
    counters.count("error.ValueError", "boom")
    assert report(counters).message.startswith("1 x ValueError: boom; ")


def test_count_reports_the_first_time():
    counters = Counters()
    assert [counters.count("a"), counters.count("a"), counters.count("b")] == [True, False, True]


def test_gaps_in_the_stamps_are_missing_scans():
    gaps = GapDetector()
    stamps = [i * 0.1 for i in range(10)] + [1.2, 1.3, 1.35, 1.35, 1.2, 100.0, 100.1]
    #                                 1.0 and 1.1 are missing; jitter, repeats, steps back and pauses are none
    assert [gaps.missing_before(stamp) for stamp in stamps] == [0] * 10 + [2] + [0] * 6


def test_gaps_when_every_second_scan_is_lost_now_and_then():
    gaps = GapDetector()
    arrived = [i for i in range(200) if i < 10 or i % 5 < 3]
    missing = sum(gaps.missing_before(i * 0.1) for i in arrived)
    assert missing == 200 - len(arrived) - 2  # no later scan shows that the last two are missing
