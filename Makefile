# Two commands do everything: `make demo` sets up and runs the main job, `make test` sets up and
# passes the tests. Both need python3 (3.11 or later), g++ and make only.
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all test-web test-torch docs lint types arrows cpp python bench fuzz figures-quick figures \
  wheel coverage bench-track format stub clean

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
# Requirements of the package with the extras named in the arguments; without any, with all but those
# of `make test-web`, `make test-torch`, `make docs`, `make wheel` and `make coverage`.
REQUIREMENTS := import sys, tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  extras = project["optional-dependencies"]; \
  wanted = sys.argv[1:] or [name for name in extras if name not in ("all", "docs", "release", "torch", "web")]; \
  print(*project["dependencies"], *(one for name in wanted for one in extras[name]), sep="\n")
NATIVE := $(shell find forestcoll/native baselines/native -name '*.cpp' -o -name '*.hpp')
RELEASED = build/$(shell $(BIN)/python -c 'import sys; print(sys.implementation.cache_tag)')
BUILD := CMakeLists.txt pyproject.toml $(NATIVE)

help:
	@echo "make demo    set up, then generate schedules for A100, H100 and MI250 clusters; figures in recomputed/"
	@echo "make test    set up, then lint, type-check and test everything"
	@echo "make test-all  the same, with the tests marked slow: every method, collective and network,"
	@echo "             and with all rounds of random tests"
	@echo "make test-web  set up, get a browser, then test the page of results in it"
	@echo "make test-torch  set up, get torch, then run written modules between its processes"
	@echo "make docs    set up its tools, then build the documentation site, build/site/index.html"
	@echo "make bench   set up, then measure the core and the paper's algorithms beside it (minutes)"
	@echo "make fuzz    set up, then try random networks for MINUTES=10, beginning at SEED=1, and let"
	@echo "             every method try to beat what is called optimal on CONTESTS=2000 more,"
	@echo "             after as many that are damaged one way or share capacities"
	@echo "make figures-quick  set up, then draw every figure again from the rows in results/"
	@echo "make figures set up, then compute what fits HOURS=2 again, into recomputed/, and draw it"
	@echo "make wheel   build the sdist and the wheels into dist/, and try each in an empty environment"
	@echo "             without a compiler, with every Python from 3.11 on that is found, or PYTHONS=..."
	@echo "make coverage  measure the statements that the tests run, or TESTS=tests/core of them"
	@echo "make bench-track  measure generation, and add it to benchmarks/history.csv"
	@echo "make format  format all sources"
	@echo "make stub    write the types of the native modules anew"
	@echo "make clean   remove what make made"

# Tests start hundreds of Pythons: let them keep what they compile.
unexport PYTHONDONTWRITEBYTECODE

PIP = $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check

# Installs what the file $@.txt lists: by uv in a tenth of the time, from the index that pip would
# take, or by pip, where uv does not come through to it.
INSTALL = index=$${PIP_INDEX_URL:-$$($(BIN)/python -m pip config get global.index-url 2>/dev/null)}; \
  $(BIN)/uv pip install --quiet --python $(BIN)/python $${index:+--default-index "$$index"} \
    --requirement $@.txt 2>/dev/null || $(PIP) --requirement $@.txt

# Build tools are installed first, so that rebuilding after a change needs no network, and one core
# compiles while the other downloads.
$(VENV)/tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Python 3.11 or later is needed; set PYTHON=/path/to/it"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (a few minutes the first time)"
	@$(PIP) 'scikit-build-core>=0.10' 'nanobind>=3.1,<3.2' 'cmake>=3.26' 'ninja>=1.11' 'uv>=0.5'
	@touch $@

$(VENV)/dependencies: pyproject.toml | $(VENV)/tools
	@$(BIN)/python -c '$(REQUIREMENTS)' > $@.txt
	@$(INSTALL)
	@touch $@

$(VENV)/package: $(BUILD) | $(VENV)/tools
	@MAKEFLAGS= $(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/ready: $(VENV)/dependencies $(VENV)/package
	@touch $@

setup:
	@$(MAKE) --silent $(if $(findstring jobserver,$(MAKEFLAGS)),,--jobs 2) $(VENV)/ready

# The demo needs the extra `experiments` only, less than half of what the tests need.
$(VENV)/demo-dependencies: pyproject.toml | $(VENV)/tools
	@$(BIN)/python -c '$(REQUIREMENTS)' experiments > $@.txt
	@$(INSTALL)
	@touch $@

.PHONY: demo-setup
demo-setup:
	@$(MAKE) --silent $(if $(findstring jobserver,$(MAKEFLAGS)),,--jobs 2) \
	  $(VENV)/demo-dependencies $(VENV)/package

demo: demo-setup
	$(BIN)/forestcoll run experiments/quickstart.yaml --fresh --results recomputed

# All side by side, so that no core waits for the C++ tests, which need the build tools only; of the
# Python tests one sees the progress.
test: $(VENV)/tools
	@$(MAKE) --no-print-directory --jobs 3 --output-sync=target cpp checks suite

test-all: separate docs
	@$(MAKE) --no-print-directory test MARKED= ALL_ROUNDS=1 CPP_BUILDS='$(RELEASED) build/sanitized'

# Each source by itself, which shows that it includes what it uses.
separate: setup
	@$(BIN)/cmake -S . -B build/separate -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DCMAKE_BUILD_TYPE=Debug -DFORESTCOLL_SANITIZE=ON -DCMAKE_UNITY_BUILD=OFF \
	  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
	@MAKEFLAGS= $(BIN)/cmake --build build/separate --target native_tests

.PHONY: checks suite separate
checks: setup
	@$(MAKE) --no-print-directory --jobs 1 lint types arrows

suite: setup
	@$(MAKE) --no-print-directory --jobs 1 --output-sync=none python

# The page of results in Chromium: one that is there, else Playwright's own, else Debian's.
$(VENV)/web: pyproject.toml | $(VENV)/tools
	@$(BIN)/python -c '$(REQUIREMENTS)' web > $@.txt
	@$(INSTALL)
	@touch $@

test-web: setup $(VENV)/web
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	  $(BIN)/playwright install chromium || \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } || \
	  { echo "error: no browser to be had; install Chromium, so that it is on PATH"; exit 1; }
	FORESTCOLL_WEB=1 $(BIN)/python -m pytest -q tests/experiments/report/test_in_browser.py

# Written modules over torch.distributed (gloo). torch takes gigabytes, so nothing else installs it; by
# pip, whose settings may name a build for CPUs.
$(VENV)/torch: pyproject.toml | $(VENV)/tools
	@$(BIN)/python -c '$(REQUIREMENTS)' torch > $@.txt
	@$(PIP) --requirement $@.txt
	@touch $@

test-torch: setup $(VENV)/torch
	FORESTCOLL_TORCH=1 $(BIN)/python -m pytest -q tests/runtimes/python_modules/test_over_torch_groups.py

# The site, with warnings and dead links as errors. Its reference imports every module, so that beside
# the tools of the extra docs all that `make setup` installs is needed.
$(VENV)/docs: pyproject.toml | $(VENV)/tools
	@$(BIN)/python -c '$(REQUIREMENTS)' docs lp experiments notebooks dask exec > $@.txt
	@$(INSTALL)
	@touch $@

docs: $(VENV)/docs $(VENV)/package
	$(BIN)/python -m sphinx -q -W --keep-going -c docs -d build/doctrees -a -j 2 . build/site
	@echo "built build/site/index.html"

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)

types: setup
	$(BIN)/mypy

arrows: setup
	$(BIN)/lint-imports

# The C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer; `make test-all` also runs them
# with the very objects that the Python module is made of, as all Python tests do.
CPP_BUILDS ?= build/sanitized
cpp: $(VENV)/tools
	@$(BIN)/cmake -S . -B build/sanitized -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DCMAKE_BUILD_TYPE=Release -DFORESTCOLL_SANITIZE=ON >/dev/null && \
	for dir in $(CPP_BUILDS); do \
	  MAKEFLAGS= $(BIN)/cmake --build $$dir --target native_tests && \
	  $(BIN)/ctest --test-dir $$dir --output-on-failure || exit 1; \
	done

# Two halves side by side, of about equal time. Each collects its own tests only, where workers of
# one session would collect all. What is in no list is in the other half.
MARKED ?= not slow
# All that schedules of many methods are tested with is in one half, which makes each once.
HALF := $(addprefix tests/,across all_to_all allreduce baselines bounded_depth in_network lp problem \
  reference runtimes schedule test_compilation.py)
PYTEST = $(BIN)/python -m pytest -p no:anyio -m '$(MARKED)'

# One thread of linear algebra a process: its threads cost each of hundreds of Pythons 0.09 s of CPU.
half other-half: export OPENBLAS_NUM_THREADS = 1

# Whether random tests run all of their rounds (tests/random_topologies.py).
ALL_ROUNDS ?=
half other-half: export FORESTCOLL_ALL_ROUNDS = $(ALL_ROUNDS)

.PHONY: half other-half
python: setup
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=none half other-half

half: setup
	$(PYTEST) -o cache_dir=.pytest_cache/half $(HALF)

# Shown at its end, so that two do not write into one line.
other-half: setup
	@$(PYTEST) -o cache_dir=.pytest_cache/other $(HALF:%=--ignore=%) > build/other-half.txt 2>&1; \
	  status=$$?; cat build/other-half.txt; exit $$status

bench: setup
	$(BIN)/python -m benchmarks.bench_core
	$(BIN)/python -m benchmarks.bench_files
	$(BIN)/python -m benchmarks.bench_paper
	$(BIN)/python -m benchmarks.bench_collectives
	$(BIN)/python -m benchmarks.bench_fixed_k --runs 3
	$(BIN)/python -m benchmarks.bench_generate --runs 3 --limit 20

# The times of generation, added to benchmarks/history.csv with the machine and the commit.
bench-track: setup
	@mkdir -p build
	$(BIN)/python -m benchmarks.bench_generate --runs 3 --limit 20 --json build/bench.json
	$(BIN)/python -m benchmarks.track build/bench.json

# Statements that the tests run, with every process that they start. TESTS names a part of them.
TESTS ?= tests
COVERAGE = $(BIN)/python -m coverage
coverage: setup $(VENV)/release
	@mkdir -p build && $(COVERAGE) erase
	OPENBLAS_NUM_THREADS=1 $(COVERAGE) run -m pytest -q -m '$(MARKED)' $(TESTS)
	$(COVERAGE) combine --quiet && $(COVERAGE) report

MINUTES ?= 10
SEED ?= 1
CONTESTS ?= 2000
fuzz: setup
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED)
	$(BIN)/python -m tests.fuzz --any-network --networks $(CONTESTS) --seed $(SEED)
	$(BIN)/python -m tests.fuzz --all-to-alls --networks $(CONTESTS) --seed $(SEED)
	$(BIN)/python -m tests.fuzz --contest --networks $(CONTESTS) --seed $(SEED)
	$(BIN)/python -m tests.fuzz --time-bounds --networks $(CONTESTS) --seed $(SEED)

figures-quick: setup
	$(BIN)/forestcoll reproduction draw

HOURS ?= 2
figures: setup
	$(BIN)/forestcoll reproduction recompute --hours $(HOURS)

$(VENV)/release: pyproject.toml | $(VENV)/tools
	@$(BIN)/python -c '$(REQUIREMENTS)' release > $@.txt
	@$(INSTALL)
	@touch $@

PYTHONS ?=
wheel: $(VENV)/release
	$(BIN)/python -m tests.release $(PYTHONS:%=--python %)

# The types of the bindings, after a change of src/binding/ in forestcoll/native or baselines/native.
stub: setup
	$(BIN)/python -m nanobind.stubgen --quiet -m forestcoll.native._core -o forestcoll/native/_core.pyi
	$(BIN)/python -m nanobind.stubgen --quiet -m baselines.native._methods -o baselines/native/_methods.pyi

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
