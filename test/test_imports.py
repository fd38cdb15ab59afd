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


def run(command: list[str]) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)


def test_packages_import_only_packages_below_them():
    pytest.importorskip("importlinter", reason="import-linter is not installed (the extra test)")
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    result = run([sys.executable, "-c", code])
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_library_imports_without_ros_and_without_optional_packages():
    result = run([sys.executable, "-c", WITHOUT_OPTIONAL_PACKAGES])
    assert result.returncode == 0, result.stderr
