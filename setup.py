"""The package `prnet_ros`: for pip (`pip install .`, no ROS needed) and for colcon (ament_python)."""

from pathlib import Path

from setuptools import find_packages, setup

NAME = "prnet_ros"
VERSION = "0.1.0"


def files_in(folder: str) -> list[str]:
    """The files directly in a folder, as setuptools wants them: relative, and none where it does not exist."""
    return sorted(str(path) for path in Path(folder).glob("*") if path.is_file())


CORE = ["matplotlib", "numpy>=1.24", "roma>=1.4", "safetensors", "scipy>=1.10", "small-gicp>=1.0"]
CORE += ["torch>=2.1", "tqdm", "typer>=0.9"]
EXTRAS = {
    "bags": ["rosbags>=0.11"],
    "benchmark": ["kiss-icp", "kiss-matcher; python_version < '3.13'"],
    "files": ["laspy[lazrs]>=2.4", "pye57>=0.4.13; python_version < '3.14' and platform_machine != 'aarch64'"],
    "svm": ["scikit-learn"],
    "test": ["hypothesis", "pytest>=6.2", "pytest-timeout", "pytest-xdist", "ruff"],
    "train": ["h5py", "pyyaml", "tensorboard", "trimesh"],
    "viz": ["open3d-cpu>=0.18; sys_platform == 'linux' and platform_machine == 'x86_64'"]
    + ["open3d>=0.18; sys_platform != 'linux' or platform_machine != 'x86_64'"],
}

setup(
    name=NAME,
    version=VERSION,
    description="Learned registration of partial 3D scans (PRNet), as a library, a command line and a ROS 2 node",
    license="Apache-2.0",
    maintainer="prnet_ros maintainers",
    maintainer_email="maintainers@example.com",
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
