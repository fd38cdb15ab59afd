# make demo     the node on the embedded sample, in real time: a table and a picture.
#               BAG=path TOPIC=/points: on another bag.  ARGS=--wait: each scan waits for the answer to the one before
# make test     the whole test suite, two files at a time.  ARGS='-k tf': arguments of pytest
# make env      the environment alone (demo and test make it too)
# make lint     ruff, its format, the import contract, mypy
#
# TORCH=2.13.0, PYTHON=python3.12 and ROS_WHEELS=kilted choose torch, the interpreter and the ROS 2 wheels of the
# environment.
BAG ?=
TOPIC ?=
ARGS ?=
export TORCH PYTHON ROS_WHEELS BAG TOPIC

.PHONY: demo test env lint
.DEFAULT_GOAL := demo

demo:
	@bash scripts/in_env.sh prnet_demo $${BAG:+"$$BAG"} $${TOPIC:+--topic "$$TOPIC"} $(ARGS)

test:
	@OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1} ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST \
	    bash scripts/in_env.sh python -m pytest -q -n 2 --dist loadfile --durations=15 $(ARGS)

env:
	@bash scripts/setup_env.sh

lint:
	@bash scripts/in_env.sh ruff check .
	@bash scripts/in_env.sh ruff format --check .
	@bash scripts/in_env.sh lint-imports --no-cache
	@bash scripts/in_env.sh mypy
