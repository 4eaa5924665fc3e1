# make run    install what is missing, build, and start the service on 127.0.0.1:8080
# make test   install what the tests need, build, and run the units and the service from outside (TESTS: some of it)
# make unit, make acceptance, make simulate, make sanitize, make builds, make embedded-check, make platforms: parts of .ci/run
# make campaign  all tests that take long, with the binary that ships; PARTS: some, by name; Scripts/campaign lists them
# make docs   write the libraries' documentation into .build/docs, and check it
# make crash-loop  kill and restart a loaded service ROUNDS (20) times, and account for every call
# make planted-faults  plant faults in the log of calls, and see that tests find each (FAULTS: some, by name)
# make kill-points  open a store as a kill at each of its writes would leave it; STEP=n: at every n-th
# make power-cuts  cut the power of a loaded service's disk CUTS (30) times, and account for every call; needs root
# make fuzz   fuzz the parsers, each for SECONDS (10), or those of TARGETS
# make packages   a tarball and a Debian package in .build/packages; make packages-check tests them and the images
# make image  build the images of docker/Dockerfile; make reproducible: build the packages again and compare
# make bench  measure, against a local nginx
# make format bring the code into form, and write what is made from the contract; make lint checks the form

SHELL := /bin/sh
VENV := .build/venv
REQUIREMENTS := Tests/Acceptance/requirements.txt
PYTEST := $(VENV)/bin/python -m pytest -q -p no:cacheprovider
# Tests of the service wait more than they compute, so more run at once than there are cores.
WORKERS ?= $(shell expr 2 '*' $$(nproc))
TESTS ?= Tests/Acceptance

.PHONY: run build build-tests test unit embedded-check platforms builds simulate acceptance campaign crash-loop planted-faults
.PHONY: kill-points power-cuts sanitize fuzz docs packages packages-check image reproducible bench lint format clean

run: build
	@Scripts/packages run
	@exec .build/release/redial serve

build:
	@Scripts/packages build
	@swift build -c release --product redial

test: unit acceptance

build-tests:
	@Scripts/packages build
	@Scripts/packages test
	swift build --build-tests

unit: build-tests
	Scripts/unit

# The policy core needs nothing but the language: it compiles as Embedded Swift, and runs where an Int has 32 bits.
embedded-check:
	Scripts/portable

# Checks, as far as possible on Linux, that the libraries compile for the oldest Apple platforms of Package.swift.
platforms: build-tests
	Scripts/platforms

# Other packages that use the libraries: programs that embed them, built in release as users do, the examples of the
# documentation, and the integrations. One at a time: each compiles.
builds: build-tests $(VENV)/done
	$(PYTEST) --part builds Tests/Acceptance

simulate:
	Scripts/simulate seeds $(or $(SEEDS),3000) $(or $(FIRST),0)
	Scripts/simulate harm
	Scripts/simulate callers
	Scripts/simulate help
	Scripts/simulate planted

acceptance: build-tests $(VENV)/done
	$(PYTEST) -n $(WORKERS) --dist worksteal $(TESTS)

campaign: $(VENV)/done
	Scripts/campaign $(PARTS)

crash-loop: $(VENV)/done
	@Scripts/packages build
	swift build -c release --product redial
	REDIAL_BINARY="$$(swift build -c release --show-bin-path)/redial" REDIAL_CRASH_ROUNDS=$(or $(ROUNDS),20) \
		$(PYTEST) -s --part crashes Tests/Acceptance/test_crash_loop.py

planted-faults:
	@Scripts/packages build
	@Scripts/packages test
	Scripts/plant $(FAULTS)

kill-points: build-tests $(VENV)/done
	REDIAL_KILL_STEP=$(or $(STEP),1) $(PYTEST) -s --part crashes Tests/Acceptance/test_kill_points.py

power-cuts: build-tests $(VENV)/done
	REDIAL_POWER_CUTS=$(or $(CUTS),30) $(PYTEST) -s --part power Tests/Acceptance/test_power_cuts.py

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

fuzz:
	@Scripts/packages build
	Scripts/fuzz $(or $(SECONDS),10) $(TARGETS)

docs: build-tests
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
	@python3 Benchmarks/waiting.py
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

format: $(VENV)/done
	$(VENV)/bin/python Scripts/generate
	swift format --in-place --recursive Package.swift Sources Tests Integrations/Package.swift Integrations/Sources

clean:
	rm -rf .build Benchmarks/out
