"""The overlay is not installed over a ROS distribution."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[2] / "ros_overlay" / "setup.py"


def run_setup(**environment: str) -> subprocess.CompletedProcess:
    pytest.importorskip("setuptools")
    clean = {k: v for k, v in os.environ.items() if k not in ("ROS_DISTRO", "AMENT_PREFIX_PATH")}
    return subprocess.run(
        [sys.executable, str(SETUP), "--name"],
        env={**clean, **environment},
        cwd=SETUP.parent,
        capture_output=True,
        text=True,
    )


def test_a_sourced_distribution_is_refused():
    result = run_setup(ROS_DISTRO="jazzy")
    assert result.returncode != 0
    assert "jazzy" in result.stderr and "Nothing was installed" in result.stderr


def test_a_prefix_with_its_own_tf2_is_refused(tmp_path):
    (tmp_path / "share" / "tf2_msgs").mkdir(parents=True)
    result = run_setup(AMENT_PREFIX_PATH=f"{tmp_path / 'other'}{os.pathsep}{tmp_path}")
    assert result.returncode != 0
    assert str(tmp_path) in result.stderr


def test_an_environment_without_a_distribution_is_accepted():
    result = run_setup()
    assert result.returncode == 0, result.stderr
