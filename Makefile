# `make demo` and `make test` work on a machine that has only Python and make:
# each target first makes .venv and installs what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

export KERAS_BACKEND ?= tensorflow
export TF_CPP_MIN_LOG_LEVEL ?= 3
# Many tests start a process that imports TensorFlow: without compiled files, which uv
# does not make, each of them compiles 2,000 modules again. Empty is not set.
export PYTHONDONTWRITEBYTECODE :=
# uv reads another variable than pip, with commas: both are to find the same wheels, among
# them a PyTorch without gigabytes of CUDA.
ifdef PIP_FIND_LINKS
comma := ,
space := $() $()
export UV_FIND_LINKS ?= $(subst $(space),$(comma),$(strip $(PIP_FIND_LINKS)))
endif

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-backends test-jax test-torch fuzz lint docs notebooks weight \
	stored-notebooks dist clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/installed-test $(VENV)/installed-models  ## annotate a sentence, then train on the demo corpus (2 minutes, once installed)
	echo "Don't panic! Ms. Smith will read the books you sent to London." | $(BIN)/keras-tagging annotate en
	$(BIN)/keras-tagging train bigru --corpus demo --out demo-model --epochs 8 --force
	$(BIN)/keras-tagging evaluate demo-model --corpus demo --split dev --multi-tagging
	echo "The teacher that she visits knows that the guards attack it ." | $(BIN)/keras-tagging tag demo-model --beta 0.01
	$(BIN)/keras-tagging export demo-model demo-model/served

# In the order of the folders: else the files with few tests, which are the long ones,
# come last, and one process does the last of them alone.
BY_FILE := --dist loadfile --no-loadscope-reorder

# One more than cores, because tests of processes, of the service and of kills often wait.
PROCESSES := $(shell expr 1 + $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN))

# What XLA compiles here runs once: to compile it as it stands takes half the time.
QUICK_XLA := --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false

# Of a test of networks with several parameters, each value of each is tried once.
EACH_VALUE := --each-value

test: $(VENV)/installed-test  ## run the tests and the docstring examples
	XLA_FLAGS="$$XLA_FLAGS $(QUICK_XLA)" \
	$(BIN)/python -m pytest -n $(PROCESSES) --maxprocesses 4 $(BY_FILE) $(EACH_VALUE) $(ARGS)

# What CI has no time for. The large corpora are read where there are any.
test-slow: $(VENV)/installed-test $(VENV)/installed-interop $(VENV)/installed-backends $(VENV)/installed-dev $(VENV)/installed-models  ## run what a release needs and CI leaves out
	$(BIN)/python -m pytest --slow -n auto --maxprocesses 4 $(BY_FILE) $(EACH_VALUE) $(ARGS)
	$(MAKE) --no-print-directory test-jax ARGS=--slow EACH_VALUE=
	$(MAKE) --no-print-directory notebooks NOTEBOOKS="$(SLOW_NOTEBOOKS)"

BACKEND_TESTS := tests/cells tests/layers tests/models/test_every_backend.py tests/models/test_devices.py

BACKEND_OPTIONS = -q -m "not one_backend" $(EACH_VALUE)

test-backends: $(VENV)/installed-test $(VENV)/installed-backends  ## run what any backend must do on JAX and PyTorch
	$(MAKE) --no-print-directory -j2 test-jax test-torch

# JAX compiles much and computes little here: it is told to compile quickly (the older way
# of making loops takes a third less), and to keep what it has compiled for tests that
# compute the same. PyTorch compiles nothing, so that one process is done before JAX's are.
test-jax:
	@set -e; cache=$$(mktemp -d); trap 'rm -rf "$$cache"' EXIT; \
	export JAX_COMPILATION_CACHE_DIR="$$cache" JAX_DISABLE_MOST_OPTIMIZATIONS=1; \
	export XLA_FLAGS="$$XLA_FLAGS --xla_cpu_use_fusion_emitters=false"; \
	export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=0; \
	KERAS_BACKEND=jax $(BIN)/python -m pytest $(BACKEND_OPTIONS) -n auto --maxprocesses 4 $(BY_FILE) $(BACKEND_TESTS) $(ARGS)

test-torch:
	KERAS_BACKEND=torch OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(BACKEND_OPTIONS) $(BACKEND_TESTS) $(ARGS)

fuzz: $(VENV)/installed-test  ## try a thousand times as many mutated inputs on all readers
	KERAS_TAGGING_FUZZ=1000 $(BIN)/python -m pytest -n auto tests/hostile $(ARGS)

lint: $(VENV)/installed-dev  ## check code, notebooks, the direction of imports, and the types of examples
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/python .ci/examples.py

weight:  ## count lines of code, of tests, and words; an error above the limits
	@$(PYTHON) .ci/weight.py

docs: $(VENV)/installed-dev  ## build the documentation; a warning is an error
	$(BIN)/sphinx-build -W --keep-going -d docs/_build/doctrees docs docs/_build/html

SLOW_NOTEBOOKS := notebooks/02_skip_and_shortcut.ipynb notebooks/06_reproduce_a_table.ipynb
NOTEBOOKS := $(filter-out $(SLOW_NOTEBOOKS),$(wildcard notebooks/*.ipynb))
LEFT_OUT = $(filter-out $(NOTEBOOKS),$(SLOW_NOTEBOOKS))

# Notebooks run as copies, on the demo corpus alone, so that neither they nor their
# folder change. A few batches of a training tell that a notebook works; `make
# stored-notebooks` trains to the end and keeps what they print and draw. Kernels that start
# together may choose the same port, but not the same socket.
define EXECUTE
set -e; unset KERAS_TAGGING_DATA; \
scratch=$$(mktemp -d); \
trap 'rm -rf "$$scratch"' EXIT; \
cp $(NOTEBOOKS) "$$scratch"; \
printf '%s\n' "$$scratch"/*.ipynb \
| xargs -I @ -P 2 $(BIN)/jupyter nbconvert --to notebook --execute --inplace \
--ExecutePreprocessor.timeout=600 --ExecutePreprocessor.record_timing=False \
--KernelManager.transport=ipc --KernelManager.ip=@ @
endef

notebooks: export KERAS_MAX_EPOCHS := 1
notebooks: export KERAS_MAX_STEPS_PER_EPOCH := 30
notebooks: $(VENV)/installed-dev $(VENV)/installed-models  ## execute the notebooks, 30 batches of each training
	@$(EXECUTE); \
	echo "left out: $(if $(LEFT_OUT),$(LEFT_OUT) (make test-slow),nothing)"

stored-notebooks: NOTEBOOKS = $(wildcard notebooks/*.ipynb)
stored-notebooks: $(VENV)/installed-dev $(VENV)/installed-models  ## execute every notebook to its end and store its outputs
	@$(EXECUTE); cp "$$scratch"/*.ipynb notebooks

dist: $(VENV)/installed-test  ## build the wheels of package, models and vectors, and check them
	rm -rf dist
	$(BIN)/python -m build --quiet --outdir dist
	for folder in models/*/ vectors/*/; do $(BIN)/python -m build --quiet --wheel --outdir dist $$folder; done
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

clean:  ## remove the environment and everything that was built
	rm -rf $(VENV) build dist *.egg-info docs/_build docs/notebooks demo-model .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	|| { echo 'Python 3.11, 3.12 or 3.13 is needed: name one with PYTHON=..., as in' \
	'"make PYTHON=python3.12 test".' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# uv takes a tenth of pip's time; where there is none, or it fails, pip does the same.
UV = $(or $(wildcard $(BIN)/uv),$(shell command -v uv))
WHAT = -c constraints.txt -e ".[$*]"

$(VENV)/installed-%: setup.cfg setup.py pyproject.toml constraints.txt | $(BIN)/pip
	$(if $(UV),$(UV) pip install --python $(BIN)/python $(WHAT) ||) $(BIN)/pip install $(WHAT)
	@touch $@

# the trained models, each a distribution of its own
MODELS := $(patsubst %/pyproject.toml,%,$(wildcard models/*/pyproject.toml))
$(VENV)/installed-models: $(MODELS:%=%/pyproject.toml) $(wildcard models/*/*/card.json) | $(VENV)/installed-test
	$(BIN)/pip install --no-deps $(MODELS:%=./%)
	@touch $@
