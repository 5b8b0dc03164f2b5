# Takt, in two commands:
#   make run    install what is missing, build, measure this machine, show what
#               Takt does here, write a page of it
#   make test   install what is missing, build, run every test
# Everything else is CMake's: see CMakePresets.json.

TAKT = build/release/cli/takt
PREFIX ?= /usr/local

.PHONY: run test build dist portable binary wheel deb release manual bench fuzz \
    torture format install uninstall clean

# A machine on which others are at work is not measured: that is said, and the
# map then shows what is expected of it.
run: build
	@echo "== this machine"
	@$(TAKT) machine
	@echo
	@echo "== measuring it, 5 seconds ('takt tune' takes a minute and is finer)"
	@$(TAKT) tune --quick || true
	@echo
	@echo "== where each op goes"
	@$(TAKT) map
	@echo
	@$(TAKT) report --output build/takt-report.html
	@echo "Open it in a browser: $(CURDIR)/build/takt-report.html"

build:
	@tools/setup.sh build
	@mkdir -p build
	@tools/progress.sh configure build/configure.log cmake --preset release
	@sed -n '/takt cannot\|is left out/s/^-- /note: /p' build/configure.log
	@tools/progress.sh build build/make.log cmake --build --preset release

test:
	@tools/setup.sh test
	@tools/test.sh

# Parts of a release, in build/dist; `make release` makes and checks all of them.
# docs/how-to/make-a-release.md tells what each is.
DIST = build/dist

# The sources, for building without git and a network.
dist:
	@tools/setup.sh release
	@python3 packaging/make_dist.py $(DIST)

# What runs on glibc 2.31 and later, with SQLite inside.
portable:
	@tools/setup.sh release
	@mkdir -p build
	@packaging/make_portable.sh build/portable

# A tarball that is unpacked anywhere and run.
binary: portable
	@python3 packaging/make_binary.py build/portable $(DIST)

# The Python module with libtakt inside, for pip.
wheel: portable
	@python3 tools/make_wheel.py build/portable $(DIST)

# Packages for the Debian that this is run on.
deb: dist
	@packaging/make_deb.sh $(DIST)/takt-$$(tools/version.sh).tar.xz $(DIST)

# RELEASE=--in-roots tests it in fresh systems; --once builds it once.
release:
	@tools/setup.sh release
	@packaging/release.sh $(RELEASE)

# Man pages of the library, and all of the manual as HTML with a search.
manual: build
	@PYTHONDONTWRITEBYTECODE=1 python3 tools/make_manual.py build/release/cli build/manual
	@echo "Open it in a browser: $(CURDIR)/build/manual/html/index.html"

bench: build
	@build/release/bench/bench_policy
	@build/release/bench/bench_call
	@build/release/bench/bench_decide
	@build/release/bench/bench_pool
	@$(TAKT) bench

# Each target runs for FUZZ_SECONDS.
FUZZ_SECONDS ?= 60
fuzz:
	@tools/setup.sh test
	@tools/fuzz.sh $(FUZZ_SECONDS)

# Every call fails in turn, and each fuzz target tries TAKT_TORTURE_RUNS inputs
# (10 million): hours.
torture:
	@tools/setup.sh test
	@tools/torture.sh

format:
	@git ls-files -co --exclude-standard '*.[ch]' | xargs clang-format -i

# DESTDIR=FOLDER comes before PREFIX, for packages.
install: build
	@tools/install.sh install "$(PREFIX)"

uninstall:
	@tools/install.sh uninstall "$(PREFIX)"

clean:
	@rm -rf build
