"""Exit with 1 and the name of what is broken in the environment; `--quick` skips the imports that take seconds."""

import importlib
import importlib.util
import sys
import traceback

INSTALLED = ["h5py", "matplotlib", "open3d", "roma", "rosbags", "safetensors", "scipy", "small_gicp", "torch", "typer"]
IMPORTED = ["numpy", "prnet_core", "prnet_ros", "pytest", "rclpy", "sensor_msgs.msg", "tf2_ros"]


def main() -> int:
    """0 where the environment is complete."""
    quick = "--quick" in sys.argv
    missing = [name for name in INSTALLED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"not installed in {sys.prefix}: {', '.join(missing)}", file=sys.stderr)
        return 1
    try:
        for name in IMPORTED + ([] if quick else INSTALLED):
            importlib.import_module(name)
        from rclpy.type_support import check_for_type_support
        from tf2_msgs.msg import TFMessage

        check_for_type_support(TFMessage)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
