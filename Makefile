# make run    install what is missing, build, and start the service on 127.0.0.1:8080
# make test   install what the tests need, and pass those that take minutes: units, and the service from outside
# make check  pass all others: the rest of the service, campaigns, packages, sanitizers, fuzzing; acceptance: all of the service
# make embedding  build the library in release, as its users do, and run the programs of Tests/Embedding
# make sanitize  run the tests that use many threads under the thread sanitizer
# make simulate  run SEEDS (3000) seeds of the simulation, from FIRST (0); make simulate-planted: plant bugs, see them found
# make crash-loop  kill and restart a loaded service ROUNDS (20) times, and account for every call
# make planted-faults  plant faults in the log of calls, and see that tests find each (FAULTS: some, by name)
# make kill-points  open a store as a kill at each of its writes would leave it; STEP=n: at every n-th
# make power-cuts  cut the power of a loaded service's disk CUTS (30) times, and account for every call; needs root
# make address   run the HTTP server's tests under the address sanitizer
# make fuzz   fuzz the parsers, each for SECONDS (10), or those of TARGETS
# make packages   a tarball and a Debian package in .build/packages; make packages-check tests them and the images
# make image  build the images of docker/Dockerfile; make reproducible: build the packages again and compare
# make docs   write the libraries' documentation into .build/docs, and check it
# make bench  measure, against a local nginx
# make format bring the code into form; make lint checks that it is

SHELL := /bin/sh
VENV := .build/venv
REQUIREMENTS := Tests/Acceptance/requirements.txt
PYTEST := $(VENV)/bin/python -m pytest -q -p no:cacheprovider
# Tests of the service wait more than they compute, so one file more runs at once than there are cores.
WORKERS ?= $(shell expr $$(nproc) + 1)
PYTEST_AT_ONCE := $(PYTEST) -n $(WORKERS) --dist loadfile

.PHONY: run build test check unit embedded-check platforms embedding simulate simulate-planted acceptance acceptance-first
.PHONY: acceptance-rest crash-loop planted-faults kill-points power-cuts sanitize address fuzz docs
.PHONY: packages packages-check image reproducible bench lint format clean

run: build
	@Scripts/packages run
	@exec .build/release/redial serve

build:
	@Scripts/packages build
	@swift build -c release --product redial

test: unit acceptance-first

check: embedded-check platforms embedding simulate simulate-planted acceptance-rest packages-check sanitize
	$(MAKE) fuzz SECONDS=20 TARGETS="parser chunked gzip"

unit:
	@Scripts/packages build
	@Scripts/packages test
	swift build --build-tests
	Scripts/unit

# The policy core needs nothing but the language: it compiles as Embedded Swift, and runs where an Int has 32 bits.
embedded-check:
	Scripts/portable

# Checks, as far as possible on Linux, that the libraries compile for the oldest Apple platforms of Package.swift.
platforms:
	@Scripts/packages build
	swift build --target RedialLegacy
	Scripts/platforms

# Builds the library in release, as its users do, in a package of its own, and checks the output of that package's programs.
embedding: $(VENV)/done
	@Scripts/packages build
	$(PYTEST) Tests/Acceptance/test_embedding.py

simulate:
	Scripts/simulate seeds $(or $(SEEDS),3000) $(or $(FIRST),0)

simulate-planted:
	Scripts/simulate planted

acceptance: $(VENV)/done
	@Scripts/packages build
	swift build --product redial
	$(PYTEST_AT_ONCE) Tests/Acceptance

# The files of tests that `make test` runs; `make check` runs the others.
TEST_FILES := $(shell grep -v '^\#' Tests/Acceptance/first.txt)

acceptance-first: $(VENV)/done
	@Scripts/packages build
	swift build --product redial
	$(PYTEST_AT_ONCE) $(TEST_FILES:%=Tests/Acceptance/%)

acceptance-rest: $(VENV)/done
	@Scripts/packages build
	swift build --product redial
	$(PYTEST_AT_ONCE) Tests/Acceptance $(TEST_FILES:%=--ignore=Tests/Acceptance/%)

crash-loop: $(VENV)/done
	@Scripts/packages build
	swift build -c release --product redial
	REDIAL_BINARY="$$(swift build -c release --show-bin-path)/redial" REDIAL_CRASH_ROUNDS=$(or $(ROUNDS),20) \
		$(PYTEST) -s Tests/Acceptance/test_crash_loop.py

planted-faults:
	@Scripts/packages build
	@Scripts/packages test
	Scripts/plant $(FAULTS)

kill-points: $(VENV)/done
	@Scripts/packages build
	swift build --build-tests
	REDIAL_KILL_STEP=$(or $(STEP),1) $(PYTEST) -s Tests/Acceptance/test_kill_points.py

power-cuts: $(VENV)/done
	@Scripts/packages build
	swift build --product redial
	REDIAL_POWER_CUTS=$(or $(CUTS),30) $(PYTEST) -s Tests/Acceptance/test_power_cuts.py

$(VENV)/done: $(REQUIREMENTS)
	@Scripts/packages test
	@rm -rf $(VENV)
	@python3 -m venv $(VENV)
	@$(VENV)/bin/python -m pip install -q --disable-pip-version-check -r $(REQUIREMENTS)
	@touch $@

sanitize:
	@Scripts/packages build
	@Scripts/packages test
	Scripts/sanitize $(SUITES)

address:
	@Scripts/packages build
	@Scripts/packages test
	SANITIZER=address Scripts/sanitize $(or $(SUITES),HTTPServerTests)

fuzz:
	@Scripts/packages build
	Scripts/fuzz $(or $(SECONDS),10) $(TARGETS)

docs:
	@Scripts/packages build
	@Scripts/packages test
	swift build --target RedialLegacy
	Scripts/docs
	Scripts/imports --check

packages:
	@Scripts/packages build
	@Scripts/packages packaging
	binary=$$(Scripts/binary) && packaging/build.py "$$binary"

# Tests that are left out, because there is no root or no container engine, are named with the reason.
packages-check: packages $(VENV)/done
	$(PYTEST) -rs Tests/Packages

# The images redial and redial:minimal, with docker or podman.
image:
	packaging/image

# Builds the commit again in another folder, and compares the packages.
reproducible: packages
	packaging/reproduce

bench:
	@Scripts/packages build
	@Scripts/packages bench
	@swift build -c release --product redial
	@swift build -c release --product server-benchmark
	@swift build -c release --product policy-benchmark
	@swift build -c release --product transport-benchmark
	@swift build -c release --product codec-benchmark
	@swift build -c release --product recovery-benchmark
	@python3 Benchmarks/server.py
	@python3 Benchmarks/service.py
	@python3 Benchmarks/waits.py
	@python3 Benchmarks/profile.py
	@python3 Benchmarks/log_pages.py
	@python3 Benchmarks/log_pages.py --paced
	@python3 Benchmarks/postgres.py
	@python3 Benchmarks/field.py
	@python3 Benchmarks/backlog.py
	@python3 Benchmarks/retention.py
	@python3 Benchmarks/starvation.py
	@python3 Benchmarks/sizing.py
	@python3 Benchmarks/recovery.py
	@"$$(swift build -c release --show-bin-path)/policy-benchmark"
	@"$$(swift build -c release --show-bin-path)/transport-benchmark" </dev/null
	@"$$(swift build -c release --show-bin-path)/codec-benchmark"
	@"$$(swift build -c release --show-bin-path)/recovery-benchmark"

lint:
	swift format lint --strict --recursive Package.swift Sources Tests Integrations/Package.swift Integrations/Sources

format:
	swift format --in-place --recursive Package.swift Sources Tests Integrations/Package.swift Integrations/Sources

clean:
	rm -rf .build Benchmarks/out
