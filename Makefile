# Two commands: `make demo` runs the main job on built-in data, `make test` passes the tests.
# Each makes its own virtual environment first, from Python 3.11 or newer.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# What is worth running after every edit, chosen by measured durations: left out are the laws, the
# studies, the command line, most of survival, and the programs of docs/ and benchmarks/.
QUICK := $(addprefix tests/,base corpus chain backends model training evaluate exchange estimator \
	pages plots survival/test_same_bytes.py)

.PHONY: demo test quick lint docs fast benchmark clean

demo: $(VENV)/installed
	$(BIN)/polyaurn demo

# Coverage cannot see into compiled code: the tests marked plain run once more un-jitted for it, and
# the GPU's kernels in a simulator.
test: $(VENV)/installed-dev lint docs
	$(BIN)/python -m pytest -m slow -n 2 --dist loadfile
	$(BIN)/python -m pytest -m "not slow" -n 2 --cov --cov-report=
	$(BIN)/python -m coverage run --append tests/support/gpu_simulator.py
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m plain --cov --cov-append --cov-report=term --cov-fail-under=95

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
