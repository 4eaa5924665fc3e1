# make run         install what is missing, build, and start the service on 127.0.0.1:8080
# make test        install what the tests need, build, and run the units and the service from outside (TESTS: some of it); at the
#                  end of each stands what was left out and why; Scripts/packages all-tests installs more
# make unit, make acceptance   one of the two
# make campaign    all tests that take long, with the binary that ships; PARTS: some, by name; Scripts/campaign --list lists them
# make docs        write the libraries' documentation into .build/docs, and check it
# make packages    a tarball and a Debian package in .build/packages
# make bench       measure, against a local nginx
# make lint        check the form of the code
# make format      bring the code into form, and write what is made: the contract from declarations, other files from the contract
#
# The rest are scripts: .ci/run is the check of each commit, or some of its steps; Scripts/simulate, Scripts/sanitize, Scripts/fuzz
# and Scripts/plant say what they do at their beginnings, and so do packaging/image and packaging/reproduce.

SHELL := /bin/sh
VENV := .build/venv
# Where the Swift files are.
SWIFT := Sources Packages clients/swift Tests
REQUIREMENTS := Tests/Acceptance/requirements.txt
# What Python has compiled is kept, also where the environment says otherwise: each worker and client would do it again.
PYTEST := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(CURDIR)/.build/pycache $(VENV)/bin/python -m pytest -q -p no:cacheprovider
# Tests of the service wait more than they compute, so more run at once than there are cores.
WORKERS ?= $(shell expr 3 '*' $$(nproc))
TESTS ?= Tests/Acceptance

.PHONY: run build build-tests test unit acceptance campaign docs packages bench lint format

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

acceptance: build-tests $(VENV)/done
	$(PYTEST) -n $(WORKERS) --dist worksteal $(TESTS)

campaign: $(VENV)/done
	Scripts/campaign $(PARTS)

$(VENV)/done: $(REQUIREMENTS)
	@Scripts/packages test
	@rm -rf $(VENV)
	@python3 -m venv $(VENV)
	@$(VENV)/bin/python -m pip install -q --no-compile --disable-pip-version-check -r $(REQUIREMENTS)
	@# All workers would compile the tests at once; this is left to them if it fails.
	-@$(PYTEST) --collect-only Tests/Acceptance >$(VENV)/collected.log 2>&1
	@touch $@

docs: build-tests
	Scripts/docs
	Scripts/imports --check

packages:
	@Scripts/packages build
	@Scripts/packages packaging
	binary=$$(Scripts/binary) && packaging/build.py "$$binary"

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
	@Scripts/width --check
	swift format lint --strict --recursive Package.swift $(SWIFT)
	@# It would be wrapped once more each time that it is taken out of the lock, until a call of it overflows the stack.
	@! grep -rnE '(Mutex|Guarded)<.*->' $(SWIFT) Benchmarks --include='*.swift' \
	  || { echo 'A lock around a bare closure: put the closure into a struct.' >&2; exit 1; }

format: $(VENV)/done
	@Scripts/packages test
	$(VENV)/bin/python Scripts/generate
	swift format --in-place --recursive Package.swift $(SWIFT)
