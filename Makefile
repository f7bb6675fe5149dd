# Every verb works in a fresh clone: the first one makes .venv, the later ones find it.
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-browser chromium check format docs bench bench-scale bench-boosted bench-today bench-messy bench-pages paper-pages accuracy anatomy schemas simulate fuzz reproduce release-check lock clean

READY := .venv/.ready
RUN := .venv/bin/python -m
MINUTES ?= 10
JOBS ?= 2
SEED ?= 0
ARGS ?= all --jobs 2
# Without bytecode, every process that a test starts would compile pandas and the rest anew.
unexport PYTHONDONTWRITEBYTECODE
# Errors only: every version and hash is in the lock.
PIP := $(RUN) pip -qq --no-input --disable-pip-version-check

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## Create .venv with the locked packages and poolwise itself
	@echo ".venv is ready"

demo: $(READY) ## Show two examples: history helps, and history does not help
	@$(RUN) poolwise.cli demo --force

test: check ## Run the checks, then every test
	@$(RUN) pytest -n auto --dist worksteal

test-browser: $(READY) chromium ## Test the report in Chromium, installing it if possible
	@$(RUN) pytest -n auto -m browser tests/report

# The browser comes from the system; Playwright, which drives it, would bring one of its own.
chromium:
	@for browser in "$(CHROMIUM)" chromium chromium-browser google-chrome; do \
		if command -v "$$browser" >/dev/null 2>&1; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
			apt-get -qq -y --no-install-recommends install chromium fonts-dejavu-core >/dev/null; \
	else \
		echo "There is no Chromium. Install it (Debian: apt-get install chromium), or name one:" >&2; \
		echo "make test-browser CHROMIUM=/path/to/chromium" >&2; \
		exit 1; \
	fi

check: $(READY) ## Format, lint and types
	@$(RUN) ruff format --check .
	@$(RUN) ruff check .
	@$(RUN) mypy

format: $(READY) ## Format the code and fix what the linter can fix
	@$(RUN) ruff format .
	@$(RUN) ruff check --fix .

docs: $(READY) ## Build the site, check its links, run its code blocks, doctests and gallery
	@$(RUN) sphinx -W --keep-going -b html docs docs/_build/html
	@$(RUN) pytest -q -n auto src tests/test_docs.py -k "not build_without_a_warning"
	@echo "Open docs/_build/html/index.html"

bench: $(READY) ## Measure time and memory
	@$(RUN) benchmarks

bench-scale: $(READY) ## Measure files, clusters and other libraries; writes 3.2 GB to the temporary folder
	@$(RUN) benchmarks.scale

bench-boosted: $(READY) ## Compare boosted pooling with trees and Bayes pooling, also with corrupted history
	@$(RUN) benchmarks.boosted --jobs $(JOBS)

bench-today: $(READY) ## Compare pooling with the usual choices: the README's table and picture
	@$(RUN) benchmarks.today --jobs $(JOBS) --picture docs/pictures/two_tables.svg

bench-messy: $(READY) ## Compare bayes_pooling with ridge on nine tables with categories and rare events
	@$(RUN) benchmarks.messy --jobs $(JOBS)

bench-pages: $(READY) ## Run all benchmarks (an hour on an idle machine) and write docs/benchmarks
	@.venv/bin/python docs/benchmarks/write.py

paper-pages: $(READY) ## Recompute the paper with both protocols and write docs/paper
	@$(RUN) docs.paper.write

accuracy: $(READY) ## Count correct digits on the NIST reference datasets, next to other packages
	@$(RUN) benchmarks.accuracy

anatomy: $(READY) ## Count modules, lines and imports, and the modules that a fit and a report pass
	@$(RUN) benchmarks.anatomy

schemas: $(READY) ## Write the JSON Schemas of model and moments files from their declarations
	@$(RUN) poolwise.model.model_file

simulate: $(READY) ## Simulate wrong history; measure the coverage of intervals and diagnostics
	@$(RUN) benchmarks.robustness
	@$(RUN) benchmarks.coverage
	@$(RUN) benchmarks.honesty
	@$(RUN) benchmarks.gaps

fuzz: $(READY) ## Fit adversarial arrays for MINUTES (default 10), starting at SEED
	@$(RUN) tests.fuzz --minutes $(MINUTES) --seed $(SEED)

reproduce: $(READY) ## Compute the paper again, or what ARGS names: make reproduce ARGS="small5"
	@$(RUN) paper $(ARGS)

# Not part of make test: it needs the network, and minutes.
release-check: $(READY) ## Build wheel and sdist, and test them in fresh environments, with newest and oldest packages
	@$(RUN) tests.release

# Pins that still fit are kept; LOCK_FLAGS=--upgrade moves all of them.
lock: $(READY) ## Write requirements.lock from pyproject.toml
	@echo uv | $(RUN) uv pip compile - --quiet --output-file requirements-uv.lock --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
		--custom-compile-command "make lock" $(LOCK_FLAGS)
	@echo hatchling | $(RUN) uv pip compile pyproject.toml - --quiet --output-file requirements.lock \
		--extra test --extra check --extra docs --extra browser --extra release --universal --python-version 3.11 \
		--fork-strategy fewest --generate-hashes --no-emit-index-url --no-emit-find-links \
		--custom-compile-command "make lock" $(LOCK_FLAGS)

clean: ## Remove .venv, caches and build results
	@rm -rf .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist docs/_build docs/gallery demo_output reproduction
	@find src paper tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# A .venv whose pip does not run was left half-made, and is made again.
$(READY): requirements.lock requirements-uv.lock pyproject.toml
	@if ! $(PIP) --version >/dev/null 2>&1; then \
		rm -rf .venv; seen=""; chosen=""; \
		for python in "$(PYTHON)" python3 python3.14 python3.13 python3.12 python3.11 python; do \
			command -v "$$python" >/dev/null 2>&1 || continue; \
			version=$$("$$python" -c 'import platform; print(platform.python_version())' 2>/dev/null) || continue; \
			seen="$$seen $$python ($$version)"; \
			if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
			then chosen="$$python"; break; fi; \
		done; \
		if [ -z "$$chosen" ]; then \
			echo "poolwise needs Python 3.11 or newer, with its venv module. Found:$${seen:- no Python}." >&2; \
			echo "Name one with: make setup PYTHON=/path/to/python" >&2; \
			exit 1; \
		fi; \
		echo "Setting up .venv with Python $$version (first run: a minute or two)"; \
		"$$chosen" -m venv .venv || exit 1; \
	else \
		echo "Bringing .venv up to date"; \
	fi
	@# uv takes a third of the time; where it cannot reach the index as pip does, pip installs.
	@$(PIP) install --require-hashes -r requirements-uv.lock
	@$(RUN) uv pip install --quiet --system-certs --python .venv/bin/python \
		--require-hashes -r requirements.lock 2>/dev/null || \
		$(PIP) install --no-compile --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@
