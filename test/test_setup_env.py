"""scripts/setup_env.sh: errors for what it cannot use; a complete environment is not made again."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ("env_common.sh", "setup_env.sh", "in_env.sh", "check_env.py")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What the script reads of the repository, in a folder with a space in its name."""
    folder = tmp_path / "a checkout"
    (folder / "scripts").mkdir(parents=True)
    (folder / "ros_overlay").mkdir()
    for name in SCRIPTS:
        shutil.copy(ROOT / "scripts" / name, folder / "scripts")
    for name in ("setup.py", "setup.cfg"):
        shutil.copy(ROOT / name, folder)
    return folder


def run(checkout: Path, **environment: str) -> subprocess.CompletedProcess:
    read_by_the_script = ("ROS_DISTRO", "AMENT_PREFIX_PATH", "PYTHON", "TORCH", "ROS_WHEELS")
    clean = {name: value for name, value in os.environ.items() if name not in read_by_the_script}
    return subprocess.run(
        ["bash", str(checkout / "scripts" / "setup_env.sh")],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        cwd="/",
    )


def test_another_venv_is_left_unchanged(checkout):
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "a_file").touch()
    result = run(checkout)
    assert result.returncode == 1
    assert ".venv was not made by this script" in result.stderr
    assert (checkout / ".venv" / "a_file").exists()


def test_a_missing_interpreter_is_named(checkout):
    result = run(checkout, PYTHON="python3.99")
    assert result.returncode == 1
    assert "python3.99" in result.stderr
    assert not (checkout / ".venv").exists()


def test_an_interpreter_of_another_version_is_named(checkout, tmp_path):
    old = tmp_path / "old python"
    cases = f'-V) echo Python 3.7.1;; *"(3, 10)"*) exit 1;; *) exec "{sys.executable}" "$@";;'
    old.write_text(f'#!/bin/sh\ncase "$*" in {cases} esac\n')
    old.chmod(0o755)
    result = run(checkout, PYTHON=str(old))
    assert result.returncode == 1
    assert "Python 3.7.1" in result.stderr and "3.10 to 3.13" in result.stderr


def test_wheels_of_another_distribution_are_refused(checkout):
    result = run(checkout, ROS_WHEELS="humble")
    assert result.returncode == 1
    assert "ROS_WHEELS=humble: the wheels are jazzy or kilted" in result.stderr
    assert not (checkout / ".venv").exists()


def test_a_sourced_distribution_without_its_packages_is_named(checkout, tmp_path):
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    result = run(checkout, ROS_DISTRO="jazzy", PYTHON=str(bare / "bin" / "python"))
    assert result.returncode == 1
    assert "rosdep install" in result.stderr
    assert not (checkout / ".venv").exists()


def test_a_complete_environment_is_found_again_without_output():
    if Path(sys.prefix) != ROOT / ".venv":
        pytest.skip("the tests do not run in the environment that `make` makes")
    result = run(ROOT, **made_with(ROOT / ".venv" / "complete"))
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


def made_with(complete: Path) -> dict[str, str]:
    """The variables that an environment was made with: without them the script makes another one in its place."""
    inputs = dict(line.split(" ", 1) for line in complete.read_text().splitlines()[:3])
    variables = {"TORCH": inputs["torch"]}
    if inputs["ros"].startswith("wheels"):
        return variables | {"ROS_WHEELS": inputs["ros"].removeprefix("wheels").strip()}
    return variables | {name: os.environ[name] for name in ("ROS_DISTRO", "AMENT_PREFIX_PATH") if name in os.environ}
