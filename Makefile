# Two commands: `make demo` runs the main job on built-in data, `make test` passes the tests.
# Each makes its own virtual environment first, from Python 3.11 or newer.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# What is worth running after every edit, chosen by measured durations: left out are the laws, the
# studies, the command line, evaluation, exchange, pages, plots, most of survival, and the programs of
# docs/ and benchmarks/.
QUICK := $(addprefix tests/,base corpus chain backends model training estimator \
	survival/test_same_bytes.py)

.PHONY: demo test test-gpu simulator unjitted quick lint docs fast benchmark clean

demo: $(VENV)/installed
	$(BIN)/polyaurn demo

# Coverage cannot see into compiled code: the tests marked plain run once more un-jitted for it, and
# the GPU's kernels in a simulator, a core each.
test: $(VENV)/installed-dev lint docs
	rm -f .coverage .coverage.*
	COVERAGE_FILE=.coverage.tests $(BIN)/python -m pytest -n 2 --dist loadgroup --cov --cov-report=
	$(MAKE) --no-print-directory -j 2 --output-sync=target simulator unjitted
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --fail-under=95
	@$(BIN)/python tests/support/gpu_log.py --check || echo "(A note: the tests above passed.)"

# On a machine with an NVIDIA GPU, and with numba-cuda and CuPy; writes benchmarks/results/gpu-tests.txt.
test-gpu: $(VENV)/installed-dev
	$(BIN)/python tests/support/gpu_log.py

simulator: $(VENV)/installed-dev
	COVERAGE_FILE=.coverage.simulator $(BIN)/python -m coverage run tests/support/gpu_simulator.py

unjitted: $(VENV)/installed-dev
	COVERAGE_FILE=.coverage.unjitted NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m plain --cov --cov-report=

# Under three minutes on two cores.
quick: $(VENV)/installed-dev lint
	$(BIN)/python -m pytest -q -m "not slow" -n 2 $(QUICK)

fast: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m "not slow"

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

benchmark: $(VENV)/installed-dev
	$(BIN)/pip install --quiet -e ".[benchmark]"
	$(BIN)/python benchmarks/throughput.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache polyaurn-demo
	find src -name __pycache__ -o -name '*.egg-info' | xargs rm -rf
