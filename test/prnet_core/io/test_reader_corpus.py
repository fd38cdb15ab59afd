"""Every file of the generated corpus gives its points, or is refused with its name and the reason."""

import sys
from pathlib import Path

import numpy as np
import pytest

from prnet_core.io.cloud_files import CloudFileError, read_cloud_file

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
from reader_corpus import Case, corpus  # noqa: E402

CASES = corpus()


def test_the_corpus_is_large_enough():
    assert len(CASES) >= 180


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_each_file_gives_its_points_or_a_reason(case: Case, tmp_path):
    path = tmp_path / case.name
    path.write_bytes(case.content)
    if case.is_valid:
        points = read_cloud_file(path, case.columns)
        assert points.dtype == np.float64
        np.testing.assert_allclose(points, case.expected, rtol=1e-7)
        return
    with pytest.raises(CloudFileError, match=case.expected) as caught:
        read_cloud_file(path, case.columns)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("package, suffix", [("laspy", ".las"), ("laspy", ".laz"), ("pye57", ".e57")])
def test_kinds_read_by_an_extra_package_are_in_the_corpus(package, suffix):
    pytest.importorskip(package, reason=f"{package} is not installed: pip install '.[files]'")
    assert sum(case.name.endswith(suffix) for case in CASES) >= 4
