# Each target makes what it needs: `demo` the base install, the others the extras as well.

PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
PINS := .ci/constraints.txt

# By environment and not by -c, which does not reach the environment in which pip builds the
# package; pip 25.3 and later read the second name for that.
INSTALL := PIP_CONSTRAINT=$(PINS) PIP_BUILD_CONSTRAINT=$(PINS) $(BIN)/python -m pip install --quiet

.PHONY: demo test soak check bench model clean

demo: .venv/.base
	@$(BIN)/reticent demo

# By file, because a file's tests share what it starts. BLAS keeps to one thread in each of the
# workers, and in what these start: more would wait for each other. The browsers come last and
# alone: what one of them asks has to be decided within a second.
test: .venv/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m 'not browser and not soak' \
	  --numprocesses $(WORKERS) --dist loadfile
	$(BIN)/python -m pytest -m 'browser and not soak' tests/browser

# Kills, replacements and mutations by the hundred: each prints its counts, and they run alone.
soak: .venv/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m soak -v -s

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.house.budget
	$(BIN)/python -m tests.house.trace

bench: .venv/.dev
	$(BIN)/python -m tests.bench $(PARTS)

model: .venv/.dev
	$(BIN)/python examples/build_shipped_model.py

clean:
	rm -rf .venv .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

.venv/.base: pyproject.toml $(PINS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: error: $(PYTHON) is not Python 3.11 or newer; name one with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "make: error: $(PYTHON) cannot make a virtual environment; install python3-venv" >&2; exit 1; }
	@echo "make: installing into .venv, once"
	@$(PYTHON) -m venv .venv
	@$(INSTALL) --editable .
	@touch $@

.venv/.dev: .venv/.base
	@echo "make: installing what builds and tests need into .venv, once"
	@$(INSTALL) --editable '.[build,dev,keyring,lab]'
	@touch $@
