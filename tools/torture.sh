#!/bin/sh
# What takes hours: every single call of whole programs fails, every program in
# tests/torture runs long, and every fuzz target tries TAKT_TORTURE_RUNS inputs
# (10 million). Says how far it is, and fails when anything was found. With less
# than 100000 inputs a sample of the calls fails.
# usage: tools/torture.sh
set -eu
cd "$(dirname "$0")/.."
runs=${TAKT_TORTURE_RUNS:-10000000}
# A round of tests/torture starts processes and waits for them: up to seconds.
rounds=$((runs < 100000 ? 10 : runs / 10000))
found=0

note() {
    echo "== $(date +%H:%M:%S) $*"
}

build() {
    note "building $1"
    { cmake --preset "$1" && cmake --build --preset "$1"; } \
        >"build/torture-$1.log" 2>&1 ||
        { tail -n 40 "build/torture-$1.log"; exit 1; }
}

attempt() {
    name=$1
    shift
    note "$name"
    if ! "$@"; then
        note "$name failed"
        found=$((found + 1))
    fi
}

# One fuzz target, from its corpus, in pieces, so that progress shows.
fuzz() {
    target=$1
    name=$(basename "$target")
    done=0
    piece=$((runs < 1000000 ? runs : 1000000))
    mkdir -p "build/fuzz/corpus/$name"
    seeds=
    [ -d "fuzz/corpus/$name" ] && seeds="fuzz/corpus/$name"
    while [ "$done" -lt "$runs" ]; do
        # shellcheck disable=SC2086
        "$target" -runs="$piece" -timeout=25 -rss_limit_mb=2048 -verbosity=0 \
            "-artifact_prefix=build/fuzz/$name-" "build/fuzz/corpus/$name" \
            $seeds >"build/fuzz/$name.log" 2>&1 ||
            { tail -n 40 "build/fuzz/$name.log"; return 1; }
        done=$((done + piece))
        note "$name: $done of $runs inputs"
    done
}

# What `make test` does without.
examples() {
    cmake --preset tsan -DTAKT_BUILD_EXAMPLES=ON >build/torture-tsan.log &&
        cmake --build --preset tsan --target all >>build/torture-tsan.log &&
        ctest --test-dir build/tsan -R '^examples/' --output-on-failure
}

mkdir -p build
build check
all=--all
[ "$runs" -ge 100000 ] || all=
# shellcheck disable=SC2086
attempt "single calls that fail" python3 tests/inject/sweep.py build/check $all
for test in build/check/tests/torture/torture_* build/check/tests/torture_* \
    tests/torture/torture_*.py; do
    [ -f "$test" ] && [ -x "$test" ] && attempt "$test" "$test" "$rounds"
done
attempt "patches of the whole corpus" env TAKT_TORTURE=1 \
    ctest --test-dir build/check -R '^cli/patches$' --output-on-failure
attempt "the examples, by the thread sanitizer" examples
build fuzzing
for target in build/fuzzing/fuzz/fuzz_*; do
    [ -f "$target" ] && [ -x "$target" ] && attempt "$target" fuzz "$target"
done
note "$found found"
[ "$found" -eq 0 ]
