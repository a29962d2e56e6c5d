# `make demo`: set up, then assess the shipped examples. `make test`: all checks, with the same examples in every run.
# `make check`: lint, types and the tests of what changed since main, within a minute.
# `make docs`: the documentation as a site in site/.
# `make fuzz`: the property tests on new random examples, EXAMPLES times as many; and sweeps in full.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXAMPLES ?= 10

.PHONY: setup setup-spark demo test check fuzz lint types docs bench clean

setup: $(VENV)/.ready

# Bytecode is compiled at installation: where Python cannot write it later, each process would start seconds later.
$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --editable . --group dev
	touch $@

# For the tests on a Spark cluster: PySpark (490 MB). They also need Java 17, and are skipped without either.
setup-spark: setup
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group cluster

demo: setup
	$(BIN)/python -m equivoc.demo

# Numba's cache does not notice a change in a kernel that another kernel calls: delete it if any kernel file has changed.
$(VENV)/.kernels: $(wildcard src/equivoc/*/*_kernels.py src/equivoc/*/*/*_kernels.py) | setup
	find src -name '*.nb[ci]' -delete
	touch $@

test: setup lint types $(VENV)/.kernels
	$(BIN)/python -m pytest -n auto --dist loadgroup --doctest-modules src tests

check: setup lint types
	$(BIN)/python -m tests.what_changed --seconds 35

fuzz: setup $(VENV)/.kernels
	EQUIVOC_FUZZ=$(EXAMPLES) $(BIN)/python -m pytest -n auto -m "hypothesis or sweep or goes_on" tests

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

# Material prints a notice about MkDocs 2 unless this is set. No --quiet: it would hide warnings from --strict.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "site/index.html"

bench: setup
	$(BIN)/python benchmarks/measure.py

clean:
	rm -rf $(VENV) out site
