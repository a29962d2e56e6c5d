# `make demo`: set up, then the main job on the shipped examples. `make test`: every check, the same in every run.
# `make fuzz`: the properties on new examples, EXAMPLES times as many of them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXAMPLES ?= 10

.PHONY: setup demo test fuzz lint types bench clean

setup: $(VENV)/.ready

# Compiled on installing, for where Python may not write bytecode: each process starts seconds sooner.
$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --editable . --group dev
	touch $@

demo: setup
	$(BIN)/python -m equivoc.demo

# Numba's cache does not notice a change in a kernel that another kernel calls: drop it when any has changed.
$(VENV)/.kernels: $(wildcard src/equivoc/*/*_kernels.py src/equivoc/*/*/*_kernels.py) | setup
	find src -name '*.nb[ci]' -delete
	touch $@

test: setup lint types $(VENV)/.kernels
	$(BIN)/python -m pytest -n auto --doctest-modules src tests

fuzz: setup $(VENV)/.kernels
	EQUIVOC_FUZZ=$(EXAMPLES) $(BIN)/python -m pytest -n auto -m hypothesis tests

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

bench: setup
	$(BIN)/python benchmarks/measure.py

clean:
	rm -rf $(VENV) out
