# make demo     the node on the embedded sample: a table and a picture.  BAG=path TOPIC=/points: on anyone's bag
# make test     the whole test suite, two files at a time.  ARGS='-k tf': pytest's own arguments
# make env      the environment alone (both above make it too)
# make lint     ruff
#
# TORCH=2.13.0 and PYTHON=python3.12 choose torch and the interpreter of the environment.
BAG ?=
TOPIC ?=
ARGS ?=
export TORCH PYTHON BAG TOPIC

.PHONY: demo test env lint
.DEFAULT_GOAL := demo

demo:
	@bash scripts/in_env.sh prnet_demo $${BAG:+"$$BAG"} $${TOPIC:+--topic "$$TOPIC"}

test:
	@OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1} ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST \
	    bash scripts/in_env.sh python -m pytest -q -n 2 --dist loadfile --durations=15 $(ARGS)

env:
	@bash scripts/setup_env.sh

lint:
	@bash scripts/in_env.sh ruff check .
