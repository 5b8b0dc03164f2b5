#!/bin/sh
# Builds every preset named (or the usual ones), runs all tests of each, and
# closes with one line that counts them.
set -u
cd "$(dirname "$0")/.."

mkdir -p build
presets=${*:-check clang asan tsan aarch64}
jobs=$(($(nproc) + 1)) # many tests wait more than they compute
passed=0
failed=0
for preset in $presets; do
    echo "== $preset"
    log=build/$preset.log
    if ! tools/progress.sh "$preset: configure" "$log" \
        cmake --preset "$preset" ||
        ! tools/progress.sh "$preset: build" "$log" \
            cmake --build --preset "$preset"; then
        echo "== $preset does not build"
        failed=$((failed + 1))
        continue
    fi
    summary=$(mktemp)
    ctest --test-dir "build/$preset" --output-on-failure -j "$jobs" | tee "$summary"
    total=$(sed -n 's/.* tests failed out of \([0-9]*\)$/\1/p' "$summary")
    bad=$(sed -n 's/.*, \([0-9]*\) tests failed out of .*/\1/p' "$summary")
    rm -f "$summary"
    if [ -z "$total" ] || [ "$total" -eq 0 ]; then
        echo "== $preset ran no test"
        failed=$((failed + 1))
        continue
    fi
    failed=$((failed + bad))
    passed=$((passed + total - bad))
done
# The parsers, for a few seconds each: `make fuzz` takes its time.
if [ $# -eq 0 ]; then
    echo "== fuzz"
    if tools/fuzz.sh 3; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
