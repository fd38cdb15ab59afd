"""Arrays: npy, npz, and .bin files of float32 rows whose width nothing states."""

from __future__ import annotations

import io

import numpy as np

from reader_corpus.case import POINTS, UTM, Case


def npy(array: np.ndarray) -> bytes:
    """The bytes of a .npy file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz(compressed: bool = False, **arrays: np.ndarray) -> bytes:
    """The bytes of a .npz file."""
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    return file.getvalue()


def sweep(number: int = 3000, shuffled: bool = False, seed: int = 0) -> np.ndarray:
    """(N, 6) float32 x y z intensity ring time as a spinning LiDAR in a street gives them."""
    rng = np.random.default_rng(seed)
    ring = np.arange(number) % 32
    azimuth = np.arange(number) / number * 2 * np.pi
    distance = 5.0 + 25.0 * rng.random(number) * (1.5 + np.sin(3 * azimuth))
    slope = np.radians(-25 + 30 * ring / 31)
    x, y = distance * np.cos(azimuth), 0.6 * distance * np.sin(azimuth)
    z = np.maximum(distance * np.tan(slope), -1.7)
    table = np.c_[x, y, z, np.round(255 * rng.random(number) ** 3), ring, 0.1 * azimuth / (2 * np.pi)]
    return table[rng.permutation(number) if shuffled else slice(None)].astype("<f4")


def array_cases() -> list[Case]:
    """All npy, npz and bin files."""
    whole = POINTS.astype("<f4")
    named = np.zeros(len(POINTS), [("intensity", "u1"), ("x", "<f4"), ("y", "<f8"), ("z", "<f4")])
    named["x"], named["y"], named["z"] = POINTS.T
    cut = npy(POINTS)[:-10]
    huge = npy(POINTS).replace(b"'shape': (4, 3), }           ", b"'shape': (400000000000, 3), }")
    cases = [
        Case("float64.npy", npy(UTM), UTM),
        Case("float32.npy", npy(whole), POINTS),
        Case("big_endian.npy", npy(POINTS.astype(">f4")), POINTS),
        Case("fortran.npy", npy(np.asfortranarray(POINTS)), POINTS),
        Case("integers.npy", npy(np.round(POINTS * 4).astype("i2")), np.round(POINTS * 4)),
        Case("four_columns.npy", npy(np.c_[whole, np.ones(4, "f4")]), POINTS),
        Case("named_columns.npy", npy(named), POINTS),
        Case("points.npz", npz(points=whole, labels=np.arange(4)), POINTS),
        Case("xyz.npz", npz(compressed=True, xyz=POINTS), POINTS),
        Case("single.npz", npz(some_name=POINTS), POINTS),
        Case("columns.npz", npz(x=POINTS[:, 0], y=POINTS[:, 1], z=POINTS[:, 2]), POINTS),
        Case("empty.npy", b"", "empty"),
        Case("no_points.npy", npy(np.zeros((0, 3))), "no points"),
        Case("strings.npy", npy(np.array([["a", "b", "c"]] * 4)), "not numbers"),
        Case("complex.npy", npy(POINTS + 1j), "not numbers"),
        Case("objects.npy", npy(np.array([{}, {}])), "not numbers|pickle|[Oo]bject"),
        Case("one_dimension.npy", npy(np.arange(12.0)), "shape"),
        Case("two_columns.npy", npy(np.ones((4, 2))), "shape"),
        Case("transposed.npy", npy(np.ones((3, 500))), "transposed"),
        Case("names_without_z.npy", npy(np.zeros(4, [("x", "f4"), ("y", "f4")])), "x, y, z"),
        Case("cut.npy", cut, "cut|short|bytes"),
        Case("huge.npy", huge, "cut|short|bytes"),
        Case("text.npy", b"this is no array", "npy"),
        Case("several.npz", npz(first=POINTS, second=POINTS), "first, second"),
        Case("text.npz", b"this is no archive", "npz|zip"),
        Case("cut.npz", npz(points=POINTS)[:-30], "npz|zip"),
        Case("empty.bin", b"", "empty|no points"),
        Case("odd_size.bin", b"12345", "float32"),
        Case("seven_floats.bin", np.ones(7, "<f4").tobytes(), "--columns|rows"),
        Case("float64.bin", UTM.tobytes() * 50, "float32"),
        Case("isotropic.bin", np.random.default_rng(0).normal(size=(200, 5)).astype("<f4").tobytes(), "--columns"),
        Case("isotropic_stated.bin", np.ones((6, 5), "<f4").tobytes(), np.ones((6, 3)), "5"),
        Case("stated_incorrectly.bin", np.ones((6, 5), "<f4").tobytes(), "rows of 4", "4"),
        Case("kitti_small.bin", np.c_[whole, np.ones(4, "f4")].tobytes(), POINTS),
    ]
    for shuffled in (False, True):
        table = sweep(shuffled=shuffled)
        for width in (3, 4, 5, 6):
            name = f"{width}_columns{'_shuffled' if shuffled else ''}.bin"
            cases.append(Case(name, np.ascontiguousarray(table[:, :width]).tobytes(), table[:, :3].astype(float)))
    reflectance = sweep()[:, :4] / np.float32([1, 1, 1, 255])
    cases.append(Case("kitti.bin", reflectance.tobytes(), reflectance[:, :3].astype(float)))
    return cases
