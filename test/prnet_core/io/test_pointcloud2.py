"""Every layout a driver may choose reads as the numbers it was made from."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from prnet_core.io.pointcloud2 import CloudError, read_cloud, replace_points  # noqa: E402

DATATYPES = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 8}


def make_message(
    columns,
    offsets=None,
    point_step=None,
    height=1,
    row_padding=0,
    big_endian=False,
    is_dense=True,
    stamp=100.0,
    buffer=bytes,
):
    """A message with the fields `columns`, name -> 1-D array, laid out as requested; padding is 0xAA."""
    num_points = len(next(iter(columns.values())))
    if offsets is None:
        ends = np.cumsum([0] + [column.dtype.itemsize for column in columns.values()])
        offsets, end = [int(e) for e in ends[:-1]], int(ends[-1])
    else:
        end = max(o + c.dtype.itemsize for o, c in zip(offsets, columns.values()))
    point_step = point_step or end
    order = ">" if big_endian else "<"
    layout = np.dtype(
        {
            "names": list(columns),
            "offsets": offsets,
            "itemsize": point_step,
            "formats": [column.dtype.newbyteorder(order) for column in columns.values()],
        }
    )
    records = np.frombuffer(bytearray(b"\xaa" * (num_points * point_step)), layout)
    for name, column in columns.items():
        records[name] = column
    width = num_points // height
    rows = np.frombuffer(records.tobytes(), np.uint8).reshape(height, width * point_step)
    rows = np.pad(rows, ((0, 0), (0, row_padding)), constant_values=0xAA)
    seconds = int(stamp // 1)
    return SimpleNamespace(
        header=SimpleNamespace(
            frame_id="lidar", stamp=SimpleNamespace(sec=seconds, nanosec=round((stamp - seconds) * 1e9))
        ),
        height=height,
        width=width,
        point_step=point_step,
        row_step=width * point_step + row_padding,
        is_bigendian=big_endian,
        is_dense=is_dense,
        data=buffer(rows.tobytes()),
        fields=[
            SimpleNamespace(name=name, offset=offset, datatype=DATATYPES[columns[name].dtype.str[1:]], count=1)
            for name, offset in zip(columns, offsets)
        ],
    )


def xyz(points, dtype=np.float32):
    points = np.asarray(points, dtype)
    return {"x": points[:, 0], "y": points[:, 1], "z": points[:, 2]}


def as_uint8_array(data):
    return np.frombuffer(data, np.uint8)


@st.composite
def laid_out_clouds(draw):
    height, width = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = {}
    for name in draw(st.permutations(["x", "y", "z", "intensity", "ring"])):
        dtype = np.dtype(draw(st.sampled_from(sorted(DATATYPES))))
        column = rng.uniform(1, 100, height * width)
        columns[name] = (column if dtype.kind == "f" else np.floor(column)).astype(dtype)
    offsets, end = {}, 0
    for name in draw(st.permutations(sorted(columns))):  # fields need not be listed in offset order
        offsets[name] = end + draw(st.integers(0, 5))
        end = offsets[name] + columns[name].dtype.itemsize
    message = make_message(
        columns,
        [offsets[name] for name in columns],
        end + draw(st.integers(0, 9)),
        height,
        row_padding=draw(st.integers(0, 7)) if height > 1 else 0,
        big_endian=draw(st.booleans()),
        buffer=draw(st.sampled_from([bytes, bytearray, as_uint8_array])),
    )
    return message, np.stack([columns[axis] for axis in "xyz"], axis=1).astype(np.float64)


@given(laid_out_clouds())
def test_any_layout_reads_exactly_and_leaves_the_message_alone(case):
    message, expected = case
    before = bytes(message.data)
    for _ in range(2):
        cloud = read_cloud(message)
        np.testing.assert_array_equal(cloud.points, expected)
        assert cloud.points.dtype == np.float64
        assert cloud.num_dropped == 0
    assert bytes(message.data) == before


@given(
    st.lists(
        st.tuples(*[st.floats(width=32)] * 3),
        min_size=1,
        max_size=30,
    )
)
def test_only_finite_points_are_kept_and_none_at_the_sensor(points):
    points = np.array(points, np.float32)
    usable = np.isfinite(points).all(axis=1) & (points != 0).any(axis=1)
    message = make_message(xyz(points), is_dense=True)
    if not usable.any():
        with pytest.raises(CloudError) as error:
            read_cloud(message)
        assert error.value.kind == "not_finite"
        return
    cloud = read_cloud(message)
    np.testing.assert_array_equal(cloud.points, points[usable].astype(np.float64))
    assert cloud.num_dropped == np.count_nonzero(~usable)


def test_organised_cloud_is_row_major():
    points = 1 + np.arange(18).reshape(6, 3)
    message = make_message(xyz(points), height=2, row_padding=5)
    np.testing.assert_array_equal(read_cloud(message).points, points)


def test_row_step_left_at_zero():
    points = 1 + np.arange(18).reshape(6, 3)
    message = make_message(xyz(points), height=2)
    message.row_step = 0
    np.testing.assert_array_equal(read_cloud(message).points, points)


def test_last_row_may_lack_its_padding():
    points = 1 + np.arange(18).reshape(6, 3)
    message = make_message(xyz(points), height=2, row_padding=5)
    message.data = message.data[:-5]
    np.testing.assert_array_equal(read_cloud(message).points, points)


def test_utm_coordinates_in_float64_stay_exact():
    points = np.array([[6378137.123456, 500000.000001, -12.5]])
    np.testing.assert_array_equal(read_cloud(make_message(xyz(points, np.float64))).points, points)


def with_one_field(change):
    message = make_message(xyz(np.ones((4, 3))))
    change(message)
    return message


@pytest.mark.parametrize(
    "kind, change",
    [
        ("empty", lambda m: setattr(m, "width", 0)),
        ("empty", lambda m: setattr(m, "height", 0)),
        ("empty", lambda m: setattr(m, "data", b"")),
        ("no_xyz", lambda m: m.fields.pop()),
        ("no_xyz", lambda m: m.fields.clear()),
        ("no_xyz", lambda m: setattr(m.fields[0], "datatype", 0)),
        ("layout", lambda m: setattr(m.fields[2], "offset", 9)),
        ("layout", lambda m: m.__dict__.update(point_step=0, row_step=0, width=2**31)),
        ("layout", lambda m: setattr(m, "point_step", 0)),
        ("short_data", lambda m: setattr(m, "data", m.data[:-1])),
        ("short_data", lambda m: setattr(m, "width", 2**32 - 1)),
        ("short_data", lambda m: setattr(m, "point_step", 13)),
    ],
)
def test_unusable_messages_are_named(kind, change):
    with pytest.raises(CloudError) as error:
        read_cloud(with_one_field(change))
    assert error.value.kind == kind
    assert str(error.value)


@given(
    st.binary(max_size=200),
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(0, 40),
    st.integers(0, 200),
    st.lists(st.tuples(st.sampled_from(["x", "y", "z", "t"]), st.integers(0, 40), st.integers(0, 12)), max_size=6),
)
def test_nonsense_is_a_cloud_error_and_nothing_else(data, height, width, point_step, row_step, fields):
    message = make_message(xyz(np.ones((1, 3))))
    message.data, message.height, message.width = data, height, width
    message.point_step, message.row_step = point_step, row_step
    message.fields = [SimpleNamespace(name=n, offset=o, datatype=d, count=1) for n, o, d in fields]
    with np.errstate(all="ignore"):
        try:
            cloud = read_cloud(message)
        except CloudError:
            return
    assert np.isfinite(cloud.points).all() and cloud.points.shape[1] == 3
    assert cloud.times is None or np.isfinite(cloud.times).all()


# --- per-point time -------------------------------------------------------------------------------------

SWEEP = np.linspace(0.0, 0.0999, 500)  # seconds after the stamp
STAMP = 1700000000.25


def timed_message(field, values, stamp=STAMP, **kwargs):
    columns = xyz(np.arange(3 * len(values)).reshape(-1, 3))
    return make_message({**columns, field: values}, stamp=stamp, **kwargs)


@pytest.mark.parametrize(
    "field, values, tolerance",
    [
        ("t", np.round(SWEEP * 1e9).astype(np.uint32), 1e-9),  # Ouster
        ("time", SWEEP.astype(np.float32), 1e-8),  # Velodyne
        ("timestamp", STAMP + SWEEP, 1e-6),  # Hesai, RoboSense
        ("timestamp", (STAMP + SWEEP) * 1e9, 1e-6),  # Livox
        ("timestamp", (STAMP + SWEEP) * 1e6, 1e-6),
        ("time_stamp", np.round(SWEEP * 1e9).astype(np.uint32), 1e-9),  # Autoware
        ("offset_time", np.round(SWEEP * 1e6).astype(np.uint32), 1e-6),
        ("time_offset", (SWEEP * 1e9).astype(np.float32), 1e-8),
        ("time_offset", (SWEEP * 1e3).astype(np.float32), 1e-7),
        ("t", np.round((SWEEP + 471.0) * 1e6).astype(np.uint32), 1e-6),  # a clock of the sensor's own
    ],
)
def test_time_units_and_origins(field, values, tolerance):
    times = read_cloud(timed_message(field, values)).times
    np.testing.assert_allclose(times, SWEEP, atol=tolerance)


def test_times_before_the_stamp_are_negative():
    times = read_cloud(timed_message("time", (SWEEP - 0.1).astype(np.float32))).times
    np.testing.assert_allclose(times, SWEEP - 0.1, atol=1e-8)


@pytest.mark.parametrize("stamp", [0.0, 0.05, 1.0, 12.5])
def test_relative_times_just_after_a_simulation_started(stamp):
    times = read_cloud(timed_message("t", np.round(SWEEP * 1e9).astype(np.uint32), stamp)).times
    np.testing.assert_allclose(times, SWEEP, atol=0.0501)  # within one scan, whichever way it was taken
    times = read_cloud(timed_message("timestamp", stamp + SWEEP, stamp)).times
    np.testing.assert_allclose(times - times[0], SWEEP, atol=1e-9)
    if stamp >= 1.0:
        assert times[0] == pytest.approx(0.0, abs=1e-9)


def test_times_follow_the_kept_points_in_an_organised_cloud():
    message = timed_message("t", np.arange(8, dtype=np.uint32) * 10_000_000, height=2)
    records = np.frombuffer(bytearray(message.data), np.dtype((np.void, message.point_step)))
    points = np.ndarray((8, 3), "<f4", records, 0, (message.point_step, 4))
    points[3, 1] = np.nan
    message.data = records.tobytes()
    cloud = read_cloud(message)
    assert cloud.num_dropped == 1
    np.testing.assert_allclose(cloud.times, np.delete(np.arange(8), 3) * 0.01, atol=1e-9)


def test_stray_times_do_not_decide_the_unit_and_stay_bounded():
    values = (STAMP + SWEEP) * 1.0
    values[7], values[8] = 0.0, np.nan
    times = read_cloud(timed_message("timestamp", values)).times
    good = np.delete(np.arange(len(SWEEP)), [7, 8])
    np.testing.assert_allclose(times[good], SWEEP[good], atol=1e-6)
    assert np.abs(times).max() < 0.3


def test_columns_of_a_wide_cloud_are_distinguished():
    """500 columns, 2000 rows: a sample with a fixed stride of 2000 points would see a single column."""
    values = np.tile(np.round(np.linspace(0, 0.0999, 500) * 1e9).astype(np.uint32), 2000)
    times = read_cloud(timed_message("t", values, height=2000)).times
    np.testing.assert_allclose(times, values * 1e-9, atol=1e-9)


@pytest.mark.parametrize("values", [np.zeros(5, np.uint32), np.full(5, STAMP), np.full(5, np.nan)])
def test_times_that_tell_nothing_are_none(values):
    assert read_cloud(timed_message("t", values)).times is None


def test_an_empty_time_field_gives_way_to_the_next():
    columns = {**xyz(np.ones((500, 3))), "t": np.zeros(500, np.uint32), "timestamp": STAMP + SWEEP}
    np.testing.assert_allclose(read_cloud(make_message(columns, stamp=STAMP)).times, SWEEP, atol=1e-6)


def test_a_time_field_outside_its_point_gives_way_to_the_next_and_costs_no_point():
    columns = {**xyz(np.ones((500, 3))), "t": np.zeros(500, np.uint32), "timestamp": STAMP + SWEEP}
    message = make_message(columns, stamp=STAMP)
    next(field for field in message.fields if field.name == "t").offset = message.point_step
    np.testing.assert_allclose(read_cloud(message).times, SWEEP, atol=1e-6)


def test_cloud_without_times():
    assert read_cloud(make_message(xyz(np.ones((2, 3))))).times is None


@pytest.mark.parametrize("big_endian", [False, True])
@pytest.mark.parametrize("coordinates", ["f4", "f8"])
def test_points_are_replaced_and_the_other_fields_kept(big_endian, coordinates):
    points = np.arange(1.0, 37.0).reshape(12, 3)
    points[2], points[7] = np.nan, 0.0
    columns = {name: points[:, axis].astype(coordinates) for axis, name in enumerate("xyz")}
    columns["intensity"], columns["ring"] = np.arange(12, dtype="f4"), np.arange(100, 112, dtype="u2")
    message = make_message(columns, height=3, row_padding=5, big_endian=big_endian)
    cloud = read_cloud(message)
    chosen = cloud.rows[::3]
    moved = cloud.points[::3] + 0.5
    data = replace_points(message, chosen, moved)
    message.height, message.width, message.row_step, message.data = 1, len(chosen), len(data), data
    np.testing.assert_array_equal(read_cloud(message).points, moved)
    order = ">" if big_endian else "<"
    records = np.frombuffer(data, [(n, c.dtype.newbyteorder(order)) for n, c in columns.items()])
    np.testing.assert_array_equal(records["intensity"], chosen)
    np.testing.assert_array_equal(records["ring"], chosen + 100)


def test_integers_cannot_be_replaced():
    columns = {name: np.arange(1, 4, dtype="i2") for name in "xyz"}
    message = make_message(columns)
    assert replace_points(message, np.array([1]), np.array([[0.5, 0.5, 0.5]])) is None
    assert read_cloud(message).rows is None
