"""The package `prnet_ros`, for pip (`pip install .`, without ROS) and for colcon (ament_python)."""

from pathlib import Path

from setuptools import find_packages, setup

NAME = "prnet_ros"
VERSION = "0.1.0"


def files_in(folder: str) -> list[str]:
    """Relative paths of the files directly in a folder; none where it does not exist."""
    return sorted(str(path) for path in Path(folder).glob("*") if path.is_file())


LINUX_X86 = "sys_platform == 'linux' and platform_machine == 'x86_64'"
OTHER = "(sys_platform != 'linux' or platform_machine != 'x86_64')"
HAS_OPEN3D = "python_version < '3.15'"  # Open3D 0.20 has wheels for up to Python 3.14
CORE = ["matplotlib", "numpy>=1.24", "roma>=1.7", "safetensors", "scipy>=1.10", "small-gicp>=1.0"]
CORE += ["torch>=2.3", "tqdm", "typer>=0.9"]  # torch 2.3: the first one for numpy 2
CORE += [f"open3d-cpu>=0.18; {LINUX_X86} and {HAS_OPEN3D}", f"open3d>=0.18; {OTHER} and {HAS_OPEN3D}"]
EXTRAS = {
    "bags": ["rosbags>=0.11"],
    "benchmark": ["evo", "kiss-icp", "genz-icp", "kiss-matcher; python_version < '3.13'"],
    "dev": ["import-linter", "mypy", "pre-commit", "ruff", "types-PyYAML"],
    "docs": ["mkdocs-material", "mkdocstrings[python]"],
    "files": ["laspy[lazrs]>=2.4", "pye57>=0.4.13; python_version < '3.14' and platform_machine != 'aarch64'"],
    "map": ["gtsam>=4.2"],
    "svm": ["scikit-learn"],
    "test": ["hypothesis", "pytest>=7.0", "pytest-timeout", "pytest-xdist", "pyyaml"],
    "train": ["h5py", "pyyaml", "tensorboard", "trimesh"],
}

setup(
    name=NAME,
    version=VERSION,
    description="Learned registration of partial 3D scans (PRNet), as a library, a command line and a ROS 2 node",
    license="Apache-2.0",
    maintainer="prnet_ros maintainers",
    python_requires=">=3.10",
    packages=find_packages(include=["prnet_core", "prnet_core.*", "prnet_ros", "prnet_ros.*"]),
    package_data={"prnet_core": ["weights/*.safetensors", "weights/*.json"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", files_in("launch")),
        (f"share/{NAME}/config", files_in("config")),
    ],
    install_requires=CORE,
    extras_require=EXTRAS,
    entry_points={
        "console_scripts": [
            "prnet = prnet_core.cli.main:app",
            "prnet_demo = prnet_ros.demo.main:main",
            "prnet_node = prnet_ros.node.main:main",
            "prnet_replay = prnet_ros.replay:main",
        ]
    },
    zip_safe=False,
)
