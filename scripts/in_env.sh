#!/usr/bin/env bash
# Runs a command in the environment, which is made first where it is not there yet: scripts/in_env.sh CMD ARG...
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env_common.sh
bash scripts/setup_env.sh
if ! ros_is_sourced; then
    export AMENT_PREFIX_PATH="$PWD/.venv"
fi
export VIRTUAL_ENV="$PWD/.venv" PATH="$PWD/.venv/bin:$PATH"
exec "$@"
