# A fresh machine needs git, make and python3 (3.11 or newer); everything else is installed into .venv, pinned by hash.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-fast wide fuzz soak check fix bench effect lock clean

PYTHON ?= python3
BIN := .venv/bin
UV := $(BIN)/uv pip
INTO := --python $(BIN)/python
COMPILE := $(UV) compile --quiet --universal --generate-hashes --no-emit-index-url
# What is added to the environments of others: their Python may be older than ours.
ADDED := src/agentforge/catalog/added

# The interpreter of .venv and no other; the certificates of the machine, so that a company's own authority is trusted.
export UV_PYTHON_DOWNLOADS := never
export UV_NO_MANAGED_PYTHON := 1
export UV_SYSTEM_CERTS := 1
export UV_CUSTOM_COMPILE_COMMAND := make lock
# Tests start the programs of .venv a thousand times: uncompiled, each would spend most of its time on its imports.
unexport PYTHONDONTWRITEBYTECODE
# uv does not read pip's settings: an index named for pip in the environment serves both.
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null || sed -n 's/^\([a-z-]*\):.*## /  make \1: /p' Makefile

demo: .venv/.run ## Watch one request become a verified branch: no key, nothing but the package index, under a minute
	@$(BIN)/agentforge demo

test: .venv/.ready ## Run every test (installs bubblewrap where it may)
	@scripts/system-deps
	@echo "About seven minutes on two cores; the quick part alone, in one or two: make test-fast."
	$(BIN)/python -m pytest -n 4 --dist worksteal -q -rs

test-fast: .venv/.ready ## Run the tests of the inner loop
	$(BIN)/python -m pytest -n 3 --dist worksteal -q -m "not slow and not wide"

wide: .venv/.ready ## Run what takes released projects, or packages and toolchains of other languages, from their registries
	@scripts/system-deps
	$(BIN)/python -m pytest -n 2 --dist loadgroup -q -rs -m wide -o timeout=3600 $(TESTS)

# Pass after pass, each with its own chance, until the time is over or something fails; what failed is kept in .hypothesis and tried first.
fuzz: .venv/.ready ## Try the fuzzed laws for long: make fuzz MINUTES=10
	@end=$$(( $$(date +%s) + 60 * $(or $(MINUTES),10) )); while [ $$(date +%s) -lt $$end ]; do \
	  $(BIN)/python -m pytest -q -n 2 -m hypothesis --hypothesis-profile=fuzz -o timeout=3600 \
	    $$(grep -rl 'from tests.fuzzing import' tests --include='test_*.py') || exit 1; done

soak: .venv/.ready ## Run every test with every combination: tasks by the hundred, steps by the thousand, every death on both engines: an hour
	@scripts/system-deps
	SOAK=1 $(BIN)/python -m pytest -n 3 --dist worksteal -q -rs -o timeout=3600

check: .venv/.ready ## Format, lint, types, layers, dead code, our own checks, vocabulary
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy src tests $(wildcard bench)
	PYTHONPATH=. $(BIN)/lint-imports
	$(BIN)/vulture
	$(BIN)/agentforge check
	$(BIN)/python -m pytest -q tests/project/test_vocabulary.py tests/project/test_shape.py

fix: .venv/.ready ## Format, and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.ready ## Measure: tables, ratios to the run before (or BEFORE=file), JSON beside it; some of it: make bench PARTS="maps checks"
	$(BIN)/python -m bench.run $(PARTS)

effect: .venv/.ready ## Play requests to released libraries with a recorded reader: calls, tokens, hidden tests (make effect NAMES="...")
	$(BIN)/python -m bench.effect.run $(NAMES)

lock: .venv/.boot ## Pin the requirements again, and what is added to environments of projects (UPGRADE=1 for newer versions)
	$(COMPILE) --python-version 3.11 $(if $(UPGRADE),--upgrade) requirements/boot.in -o requirements/boot.txt
	$(COMPILE) --python-version 3.11 $(if $(UPGRADE),--upgrade) pyproject.toml -c requirements/boot.txt -o requirements/run.txt
	$(COMPILE) --python-version 3.11 $(if $(UPGRADE),--upgrade) pyproject.toml --all-extras requirements/dev.in -c requirements/run.txt -o requirements/dev.txt
	for list in $(ADDED)/*.in; do $(COMPILE) --python-version 3.8 --no-header --no-annotate $(if $(UPGRADE),--upgrade) $$list -o $${list%.in}.txt || exit 1; done

clean: ## Remove .venv and every cache
	rm -rf .venv .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# .boot: an interpreter with uv. .run: what the product needs. .ready: that, and what its developers need.
.venv/.boot: requirements/boot.txt scripts/make-venv
	@PYTHON="$(PYTHON)" scripts/make-venv .venv requirements/boot.txt
	@touch $@

.venv/.run: .venv/.boot requirements/run.txt pyproject.toml
	@$(UV) install --quiet $(INTO) --require-hashes -r requirements/run.txt
	@$(UV) install --quiet $(INTO) --no-deps --editable .
	@touch $@

.venv/.ready: .venv/.boot requirements/dev.txt pyproject.toml $(ADDED)/pytest.txt
	@$(UV) sync --quiet --compile-bytecode $(INTO) --require-hashes requirements/dev.txt
	@rm -rf .venv/wheels && $(BIN)/python -m pip download --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: -r $(ADDED)/pytest.txt -d .venv/wheels # for the projects of tests
	@$(UV) install --quiet $(INTO) --no-deps --editable .
	@$(BIN)/python -m compileall -q -j 0 src # once, and not by each of the processes that begin with the tests
	@touch .venv/.run $@
