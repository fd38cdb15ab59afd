"""Generate tf2_msgs with the real rosidl and put it into the overlay's wheel.

`pip install ./ros_overlay` is all there is to call. Stops with a message where a ROS distribution is sourced.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent


def refuse_over_a_distribution() -> None:
    """Raise SystemExit where a real ROS distribution would be shadowed or mixed with the overlay."""
    prefixes = [p for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    with_tf2 = [p for p in prefixes if Path(p, "share", "tf2_msgs").is_dir() and Path(p) != Path(sys.prefix)]
    if os.environ.get("ROS_DISTRO") or with_tf2:
        found = os.environ.get("ROS_DISTRO") or with_tf2[0]
        raise SystemExit(
            f"ros_overlay: the ROS distribution '{found}' is sourced and has its own tf2_ros; "
            "the overlay is only for environments without one. Nothing was installed."
        )


def ros_build_prefix() -> Path:
    """The environment that holds the rosidl generators: the prefix around the installed geometry_msgs."""
    spec = importlib.util.find_spec("geometry_msgs")
    if spec is None or spec.origin is None:
        raise SystemExit("ros_overlay: geometry_msgs is missing from the build environment.")
    return Path(spec.origin).parents[4]


def make_wheels_relocatable(prefix: Path) -> None:
    """Rewrite the folders of the host the wheels were built on, which their CMake exports name."""
    import numpy

    python_include = sysconfig.get_path("include")
    replacements = (
        (re.compile(r'/opt/python/[^;"]*/site-packages/numpy/(?:_core|core)/include'), numpy.get_include()),
        (re.compile(r'/opt/python/[^;"]*/include/python3\.\d+'), python_include),
    )
    for path in (prefix / "share").glob("*/cmake/*.cmake"):
        text = new_text = path.read_text()
        for pattern, value in replacements:
            new_text = pattern.sub(lambda _, value=value: value, new_text)
        if new_text != text:
            path.write_text(new_text)


def generate_tf2_msgs(work: Path) -> Path:
    """Run CMake on tf2_msgs; return the prefix it was installed into."""
    prefix = ros_build_prefix()
    make_wheels_relocatable(prefix)
    build, stage = work / "build", work / "stage"
    for folder in (build, stage):
        shutil.rmtree(folder, ignore_errors=True)
    environment = {**os.environ, "AMENT_PREFIX_PATH": str(prefix), "CMAKE_PREFIX_PATH": str(prefix)}
    configure = [
        "cmake", "-S", str(HERE / "tf2_msgs"), "-B", str(build), "-G", "Ninja",
        "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF",
        f"-DCMAKE_INSTALL_PREFIX={stage}",
        f"-DPython3_EXECUTABLE={sys.executable}", "-DPython3_FIND_STRATEGY=LOCATION",
    ]  # fmt: skip
    subprocess.run(configure, check=True, env=environment)
    subprocess.run(["cmake", "--build", str(build), "--target", "install"], check=True, env=environment)
    return stage


class BuildWithMessages(build_py):
    """build_py, and after it the generated message package and its libraries."""

    def run(self) -> None:
        refuse_over_a_distribution()
        super().run()
        stage = generate_tf2_msgs(Path(self.get_finalized_command("build").build_temp).resolve())
        modules = next(stage.glob("l*/**/tf2_msgs/__init__.py"), None)
        if modules is None:
            raise SystemExit("ros_overlay: rosidl made no Python module for tf2_msgs.")
        shutil.copytree(
            modules.parent,
            Path(self.build_lib, "tf2_msgs"),
            ignore=shutil.ignore_patterns("*.c", "__pycache__"),
            dirs_exist_ok=True,
        )
        share = [
            *(stage / "share/ament_index").rglob("*"),
            stage / "share/tf2_msgs/package.xml",
            *(stage / "share/tf2_msgs/msg").glob("*"),
        ]
        self.distribution.data_files = [
            (str(path.parent.relative_to(stage)), [str(path)])
            for path in [*(stage / "lib").glob("*.so"), *share]
            if path.is_file() and path.parent.name != "parent_prefix_path"
        ]


class PlatformDistribution(Distribution):
    """A wheel for this Python and this machine."""

    def has_ext_modules(self) -> bool:
        return True


refuse_over_a_distribution()
with tempfile.TemporaryDirectory(prefix="ros_overlay_") as scratch:
    setup(
        cmdclass={"build_py": BuildWithMessages},
        distclass=PlatformDistribution,
        options={"build": {"build_base": scratch}, "egg_info": {"egg_base": scratch}},
    )
