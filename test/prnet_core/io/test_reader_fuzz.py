"""Damaged files and messages lead to the documented exceptions and to nothing else; a short seeded run.

The long one, 200,000 inputs with limits on time and memory, is benchmarks/fuzz_readers.py.
"""

import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from prnet_core.io.cloud_files import CloudFileError, read_cloud_file
from prnet_core.io.cut_mcap import CutMcap
from prnet_core.io.pointcloud2 import CloudError, read_cloud

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
from reader_corpus import corpus  # noqa: E402

CASES = [case for case in corpus() if len(case.content) < 5000]
SUFFIXES = sorted({Path(case.name).suffix for case in CASES})
short_run = settings(
    max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
)


@st.composite
def damaged(draw, contents):
    """One of the contents with bytes changed, cut out, put in, or all after a place replaced by those of another."""
    data = draw(st.sampled_from(contents))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.sampled_from([start, start + 1, start + 8, len(data)]))
        piece = draw(st.one_of(
            st.binary(max_size=12),
            st.sampled_from([b"-1", b"99999999999", b"list uchar int", b"nan", b"\n", b",", b"x", b"\xff" * 8]),
            st.sampled_from(contents).map(lambda other: other[len(other) // 2 :]),
        ))  # fmt: skip
        data = data[:start] + piece + data[end:]
    return data


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files_are_read_or_refused(suffix):
    contents = [case.content for case in CASES if case.name.endswith(suffix)]

    @seed(0)
    @short_run
    @given(st.one_of(damaged(contents), st.binary(max_size=300)))
    def check(content):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"a{suffix}"
            path.write_bytes(content)
            try:
                points = read_cloud_file(path)
            except CloudFileError as error:
                assert str(path) in str(error)
            else:
                assert points.ndim == 2 and points.shape[1] == 3 and len(points) > 0

    check()


@st.composite
def messages(draw):
    """PointCloud2 messages, of which most are nearly correct."""
    step, width, height = draw(st.integers(0, 40)), draw(st.integers(0, 30)), draw(st.integers(0, 3))
    names = st.sampled_from(["x", "y", "z", "t", "time", "offset_ns", "timeOffset", "timestamp", "intensity"])
    fields = [SimpleNamespace(name=name, offset=4 * i, datatype=7, count=1) for i, name in enumerate("xyz")]
    fields += draw(st.lists(st.builds(
        SimpleNamespace, name=names, offset=st.integers(-1, 2**32), datatype=st.integers(0, 9), count=st.just(1)),
        max_size=3))  # fmt: skip
    stamp = SimpleNamespace(sec=draw(st.integers(0, 2**31)), nanosec=draw(st.integers(0, 10**9)))
    return SimpleNamespace(
        header=SimpleNamespace(frame_id="lidar", stamp=stamp), height=height, width=width, point_step=step,
        row_step=draw(st.sampled_from([0, step * width, 7, 2**31])), fields=draw(st.permutations(fields)),
        data=draw(st.one_of(st.binary(max_size=100), st.just(np.arange(600, dtype="<f4").tobytes()))),
        is_bigendian=draw(st.booleans()), is_dense=True,
    )  # fmt: skip


@seed(0)
@settings(short_run, max_examples=400)
@given(messages())
def test_odd_messages_are_read_or_refused(message):
    try:
        cloud = read_cloud(message)
    except CloudError:
        return
    assert np.isfinite(cloud.points).all()
    assert cloud.no_times_reason if cloud.times is None else np.isfinite(cloud.times).all()


def test_damaged_mcap_files_are_read_or_refused(tmp_path, bag_maker, scan_messages):
    (file,) = bag_maker.write(tmp_path / "walk", scan_messages(3)).glob("*.mcap")

    @seed(0)
    @short_run
    @given(damaged([file.read_bytes()]))
    def check(content):
        (tmp_path / "a.mcap").write_bytes(content)
        try:
            bag = CutMcap(tmp_path / "a.mcap")
        except ValueError:
            return
        assert len(list(bag.messages(bag.connections))) == bag.num_messages > 0

    check()
