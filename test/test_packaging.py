"""setup.py, package.xml and the test folders agree with what the tools that read them expect."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def package():
    return ElementTree.parse(ROOT / "package.xml").getroot()


@pytest.fixture(scope="module")
def setup_arguments():
    """The keyword arguments that setup.py passes to setuptools."""
    program = (
        "import json, setuptools\n"
        "setuptools.setup = lambda **arguments: print(json.dumps(arguments))\n"
        "exec(open('setup.py').read())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_names_of_test_files_are_unique():
    """Under the pytest plugin of launch_testing, which ignores the import mode, two files of one name clash."""
    names = Counter(path.name for path in (ROOT / "test").rglob("test_*.py"))
    assert [name for name, number in names.items() if number > 1] == []


def test_name_and_version_agree(package, setup_arguments):
    assert package.findtext("name") == setup_arguments["name"]
    assert package.findtext("version") == setup_arguments["version"]


def test_every_ros_package_that_is_imported_is_declared(package):
    declared = {element.text for element in package if element.tag.endswith("depend")}
    names = {"launch_ros": "launch_ros", "tf2_ros": "tf2_ros_py"}
    imported = set()
    for path in [*(ROOT / "prnet_ros").rglob("*.py"), *(ROOT / "launch").glob("*.py")]:
        imported |= set(re.findall(r"^\s*(?:from|import) (\w+)", path.read_text(), re.MULTILINE))
        imported |= set(re.findall(r'package="(\w+)"', path.read_text()))
    others = {"ament_index_python", "launch", "rclpy", "rviz2"}
    endings = ("_msgs", "_srvs", "_interfaces", "_ros", "_py")
    ros = {name for name in imported if name.endswith(endings) or name in others}
    assert {names.get(name, name) for name in ros if name != "prnet_ros"} - declared == set()


def test_keys_that_rosdep_does_not_know_are_left_to_pip(package):
    declared = {element.text for element in package if element.tag.endswith("depend")}
    assert not declared & {"python3-torch", "python3-typer", "python3-open3d"}


def test_colcon_finds_pytest_in_the_extra_test(setup_arguments):
    assert any(entry.startswith("pytest") for entry in setup_arguments["extras_require"]["test"])


def test_the_library_does_not_import_open3d():
    """It is installed by default, and may be missing on a processor or a Python without its wheels."""
    program = "import sys; sys.modules['open3d'] = None\n" + "".join(
        f"import prnet_core.{name}\n"
        for name in ("registration", "odometry", "fine_tuning", "io", "evaluation.methods", "cli.main")
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
