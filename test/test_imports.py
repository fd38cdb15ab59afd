"""The import contract: see [tool.importlinter] in pyproject.toml, and CONTRIBUTING.md."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WITHOUT_OPTIONAL_PACKAGES = """
import pkgutil, importlib, sys
for name in ("open3d", "rclpy", "h5py", "trimesh", "sklearn", "py_simple_go_icp_interface"):
    sys.modules[name] = None
import prnet_core
failed = []
for module in pkgutil.walk_packages(prnet_core.__path__, "prnet_core."):
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        failed.append(f"{module.name}: {error}")
sys.exit("\\n".join(failed) or 0)
"""

LOST_WITHOUT_NETWORK = """
import sys
import numpy as np
from odometry_scenes import drive_through_the_forest
from prnet_core.odometry import OdometryConfig, ScanOdometry
from prnet_core.registration import Registration, search
features, searched = search.feature_transforms, []
search.feature_transforms = lambda *arguments: (searched.append(True), features(*arguments))[1]
odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
drive_through_the_forest(odometry, 0.2)
for i in range(11, 14):
    rubbish = np.random.default_rng(i).normal(size=(4000, 3)) * 5.0
    assert odometry.register_scan(rubbish, 0.2 * i).status == "rejected"
assert searched
assert "torch" not in sys.modules
"""


def run(command: list[str]) -> subprocess.CompletedProcess:
    paths = [str(ROOT), str(ROOT / "test"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)


def test_packages_import_only_packages_below_them():
    pytest.importorskip("importlinter", reason="import-linter is not installed (the extra test)")
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    result = run([sys.executable, "-c", code])
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_library_imports_without_ros_and_without_optional_packages():
    result = run([sys.executable, "-c", WITHOUT_OPTIONAL_PACKAGES])
    assert result.returncode == 0, result.stderr


def test_a_lost_scan_is_searched_for_by_features_without_pytorch():
    """Its import takes seconds, in the middle of a drive, and a robot without the network needs none of it."""
    result = run([sys.executable, "-c", LOST_WITHOUT_NETWORK])
    assert result.returncode == 0, result.stderr
