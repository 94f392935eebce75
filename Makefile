# Every target works on a fresh machine with Python 3.11 or later and make: it makes .venv first.
SHELL := /bin/bash
PYTHON := $(shell command -v python3.11 || command -v python3)
VENV := .venv
RUN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Compiled modules are kept, or each of many processes would compile them again.
unexport PYTHONDONTWRITEBYTECODE
FILES := streamproof tests examples benchmarks tools

WITHOUT_SPARK := $(wildcard tests/*.py) $(addprefix tests/,certified checker cli diagrams fuzz golden lang models mutation proofs protocols testing translation)

.PHONY: verify test test-slow test-sixth test-extras browser mutation lint golden format changelog docs docs-serve

verify: $(INSTALLED)  ## check, mutate and prove every protocol, then run the examples; verify.html has it all, with plots
	$(RUN)/streamproof verify --html verify.html

test: $(INSTALLED)  ## every test that is fast enough to be run at any time
	$(RUN)/pytest -n 3 --dist loadfile --no-loadscope-reorder

test-slow: $(INSTALLED)  ## the others
	$(RUN)/pytest -m slow -n 2 --dist loadfile --no-loadscope-reorder

test-sixth: $(INSTALLED)  ## a sixth of those that start no Spark, another one after each commit
	$(RUN)/pytest -m slow -n 2 --dist worksteal $(WITHOUT_SPARK) \
	  --splits 6 --splitting-algorithm least_duration --group $$(( 0x$$(git rev-parse --short=8 HEAD 2>/dev/null || echo 0) % 6 + 1 ))

test-extras: $(INSTALLED)  ## each extra installed alone, from the wheel and pip's index, and its part tried
	$(RUN)/pytest -m slow tests/extras

browser:  ## a Chromium for the tests of verify.html, from Debian, unless there is one
	@command -v chromium chromium-browser google-chrome >/dev/null \
	  || { timeout 120 apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -yqq --no-install-recommends chromium >/dev/null; } \
	  || { echo "Chromium cannot be installed from here. Install it by hand, or the tests of verify.html are skipped" >&2; exit 2; }

mutation: $(INSTALLED)  ## mutate the kernel of trust; goes on where it ended, with results in the user's cache
	nice -n 10 $(RUN)/python -m tests.mutation.campaign

lint: $(INSTALLED)  ## style, types, layers and words
	$(RUN)/ruff check $(FILES)
	$(RUN)/ruff format --check $(FILES)
	$(RUN)/mypy
	$(RUN)/lint-imports
	$(RUN)/python -m tools.writing

golden: $(INSTALLED)  ## write the golden counts anew and show what moved
	$(RUN)/python -m tests.golden.write

changelog: $(INSTALLED)  ## show the changelog's next section, from the files in changes/
	$(RUN)/towncrier build --draft --version Unreleased

docs: export NO_MKDOCS_2_WARNING := 1
docs: $(INSTALLED)  ## build the documentation's site into build/site; any warning is an error
	$(RUN)/python -m mkdocs build --strict

docs-serve: export NO_MKDOCS_2_WARNING := 1
docs-serve: $(INSTALLED)  ## serve the site on this machine, and build it again at each change
	$(RUN)/python -m mkdocs serve

format: $(INSTALLED)  ## lay out the code
	$(RUN)/ruff format $(FILES)
	$(RUN)/ruff check --fix $(FILES)

# Installed anew whenever the dependencies change.
$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "streamproof needs Python 3.11 or later; $(PYTHON) is older. Install python3.11" >&2; exit 2; }
	test -x $(RUN)/python || $(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,examples]'
	@touch $@
