# Sourced by setup_env.sh and in_env.sh, from the root of the repository.
VENV_PYTHON=.venv/bin/python

# The ROS wheels put their library folders into LD_LIBRARY_PATH when Python starts, once, and leave a mark.
# Inherited from another environment, the mark would keep this one from doing so.
if [ -n "${_ROS_WHEELS_BOOTSTRAP_COMPLETE:-}" ]; then
    unset _ROS_WHEELS_BOOTSTRAP_COMPLETE LD_LIBRARY_PATH
fi

ros_is_sourced() {
    [ -n "${ROS_DISTRO:-}" ] || { [ -n "${AMENT_PREFIX_PATH:-}" ] && [ "$AMENT_PREFIX_PATH" != "$PWD/.venv" ]; }
}
