# Each target makes what it needs: `demo` the base install, the others the extras as well.

PYTHON ?= python3
WORKERS ?= 4
BROWSING ?= 2
BIN := .venv/bin
PINS := .ci/constraints.txt
PURE := $(addprefix tests/,build daemon/test_simulatable.py decision lab model policy tradeoff wire)

# Only what has a hash in PINS, and no source that would run its own setup with what it fetches.
# The package has none: it comes last, built with the backend that was installed before it.
# Modules are compiled when they are first imported: most of them never are.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile
HASHED := $(INSTALL) --require-hashes --only-binary :all:

# What the tests start, start after start, finds its modules compiled, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-spark soak check bench model extension wheel release clean

demo: .venv/.base
	@$(BIN)/reticent demo

# Each worker begins with its part of the tests, file by file, since a file's tests share what it
# starts, and takes from another's when it is done. They are twice the usual two cores: half of the
# time a test waits for what it has started. BLAS keeps to one thread in each of them, and in what
# these start: more would wait for each other. The browsers come last, and are fewer: what one of
# them asks has to be decided within a second.
test: .venv/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m 'not browser and not soak and not spark' \
	  --numprocesses $(WORKERS) --dist worksteal --ignore tests/browser
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m 'browser and not soak' tests/browser \
	  --numprocesses $(BROWSING) --dist worksteal

# The same models from Spark, which needs Java; one process, since each would start its own. The
# million events are built three times, which takes minutes.
test-spark: .venv/.spark
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m spark tests/build \
	  --override-ini faulthandler_timeout=900

# Kills and replacements by the hundred: each prints its counts, and they run alone.
# Then the laws of the pure rooms, and the theorem, on 300 examples, which differ each time.
soak: .venv/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m soak -v -s \
	  --override-ini faulthandler_timeout=0
	OPENBLAS_NUM_THREADS=1 HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -m 'not soak and not spark' \
	  --override-ini faulthandler_timeout=0 --numprocesses $(WORKERS) --dist worksteal $(PURE)

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.house.budget
	$(BIN)/python -m tests.house.trace

bench: .venv/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench $(PARTS)

model: .venv/.dev
	$(BIN)/python -m examples.build_shipped_models

# A zip for either store, with which Mozilla's own linter is content, warnings included.
extension: .venv/.base .ci/node_modules/.package-lock.json
	@$(BIN)/python -m examples.pack_extension dist
	@.ci/node_modules/.bin/web-ext lint --warnings-as-errors --no-config-discovery --no-input \
	  --boring --source-dir dist/reticent-firefox.zip

wheel: .venv/.base
	@$(BIN)/python -m hatchling build -t wheel

# Both, checked as people install them, with checksums, and signatures where KEY names a key.
release: .venv/.dev
	@.ci/release $(KEY)

clean:
	rm -rf .venv .ci/node_modules dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

.venv/.base: pyproject.toml $(PINS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: error: $(PYTHON) is not Python 3.11 or newer; name one with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "make: error: $(PYTHON) cannot make a virtual environment; install python3-venv" >&2; exit 1; }
	@echo "make: installing into .venv, once"
	@$(PYTHON) -m venv .venv
	@sed '/^# base/,$$d' $(PINS) >.venv/pip.txt
	@$(HASHED) --requirement .venv/pip.txt
	@$(BIN)/python -m pip uninstall -qq --yes setuptools
	@sed '/^# extras/,$$d' $(PINS) >.venv/base.txt
	@$(HASHED) --requirement .venv/base.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# Each has its hash in the lockfile, and none runs a script of its own.
.ci/node_modules/.package-lock.json: .ci/package-lock.json
	@echo "make: installing npm packages into .ci/node_modules, once"
	@npm ci --prefix .ci --ignore-scripts --no-audit --no-fund --loglevel=error

.venv/.dev: .venv/.base
	@echo "make: installing what builds and tests need into .venv, once"
	@sed '/^# spark/,$$d' $(PINS) >.venv/dev.txt
	@$(HASHED) --requirement .venv/dev.txt
	@touch $@

# Else each of the workers that begin at once would compile all that the tests import.
.venv/.compiled: .venv/.dev
	-@$(BIN)/python -m pytest --collect-only --quiet >$@

# Spark comes as source only: its setup runs with what is installed by now, and fetches nothing.
.venv/.spark: .venv/.dev
	@echo "make: installing Spark into .venv, once"
	@sed '1,/^# spark/d' $(PINS) >.venv/spark.txt
	@$(HASHED) --no-binary pyspark --no-build-isolation --requirement .venv/spark.txt
	@touch $@
