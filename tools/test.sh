#!/bin/sh
# Builds every preset named (or the usual ones), runs all tests of each, and
# closes with one line that counts them. While the tests of one preset run, the
# next is built.
set -u
cd "$(dirname "$0")/.."

presets=${*:-check asan tsan aarch64}
jobs=$(($(nproc) * 2)) # many tests wait
mkdir -p build

# Says "PRESET built" or "PRESET broken" as soon as either is known.
build_all() {
    for preset in $presets; do
        log=build/$preset.log
        result=built
        tools/progress.sh "$preset: configure" "$log" \
            cmake --preset "$preset" >&2 &&
            tools/progress.sh "$preset: build" "$log" \
                cmake --build --preset "$preset" >&2 || result=broken
        echo "$preset $result"
    done
}

# Runs the tests of a preset, and sets total and bad.
run_tests() {
    summary=$(mktemp)
    ctest --test-dir "build/$1" --output-on-failure -j "$jobs" </dev/null |
        tee "$summary"
    total=$(sed -n 's/.* tests failed out of \([0-9]*\)$/\1/p' "$summary")
    bad=$(sed -n 's/.*, \([0-9]*\) tests failed out of .*/\1/p' "$summary")
    rm -f "$summary"
}

# The parsers, for two seconds each: `make fuzz` takes its time.
run_fuzz() {
    total=$((${total:-0} + 1))
    tools/fuzz.sh 2 </dev/null || bad=$((${bad:-0} + 1))
}

test_all() {
    passed=0
    failed=0
    while read -r preset result; do
        total=
        echo "== $preset"
        if [ "$result" = broken ]; then
            echo "== $preset does not build"
        else
            run_tests "$preset"
            [ "$preset" != asan ] || run_fuzz
        fi
        if [ "${total:-0}" -eq 0 ]; then
            [ "$result" = broken ] || echo "== $preset ran no test"
            total=1
            bad=1
        fi
        failed=$((failed + bad))
        passed=$((passed + total - bad))
        echo "== $preset: $(($(date +%s) - began)) s since the start"
    done
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

began=$(date +%s)
build_all | test_all
