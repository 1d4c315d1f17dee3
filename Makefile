# Everything runs in an environment of its own, made on first use: python3 (3.11 or newer) and make are enough.
#   make test PYTHON=python3.12 ARGS="-k fusion" WORKERS=2

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
WORKERS ?= auto
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt
PARTS := src tests scripts benchmarks examples migrations

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench schema-dump clean
.DELETE_ON_ERROR:

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.demo ## a server, a model and some documents; then questions are answered
	$(BIN)/pgbraid demo $(ARGS)

test: $(VENV)/.dev ## every test, WORKERS at once (ARGS goes to pytest)
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) $(ARGS)

check: $(VENV)/.dev ## formatting, lint, types, who may import whom, and the SQL's style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/sqlfluff lint --disable-progress-bar --nocolor sql migrations

format: $(VENV)/.dev ## put everything into the project's style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev ## measure; needs the judged corpora in PGBRAID_TEST_DATA
	$(BIN)/python -m benchmarks $(ARGS)

schema-dump: $(VENV)/.dev ## write migrations/schema.sql anew
	$(BIN)/python scripts/dump_schema.py

clean: ## remove the environment, caches and built files; the embedded server's data stay
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find $(wildcard $(PARTS)) sql -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "pgbraid needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "The module venv is missing. Debian, Ubuntu: apt install python3-venv" >&2; exit 1; }

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.demo
