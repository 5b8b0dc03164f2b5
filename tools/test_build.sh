#!/bin/sh
# Runs all tests of a preset that is built, and the fuzz targets where it has
# them. Each line begins with the name of the preset; build/PRESET.count says how
# many passed and failed.
# usage: tools/test_build.sh PRESET
set -u
cd "$(dirname "$0")/.."
preset=${1:?usage: tools/test_build.sh PRESET}
log=build/$preset.tests.log
jobs=$(($(nproc) + 1)) # many tests wait

# The parsers are fuzzed for a second each: `make fuzz` takes its time.
run_all() {
    ctest --test-dir "build/$preset" --output-on-failure -j "$jobs"
    if [ -d "build/$preset/fuzz" ]; then
        if tools/fuzz.sh 1 "$preset"; then echo "fuzz passed"; else echo "fuzz failed"; fi
    fi
    echo "done, $(($(date +%s) - ${began:-$(date +%s)})) s since the start"
}

run_all </dev/null 2>&1 | tee "$log" | sed -u "s/^/$preset: /"

total=$(sed -n 's/.* tests failed out of \([0-9]*\)$/\1/p' "$log")
bad=$(sed -n 's/.*, \([0-9]*\) tests failed out of .*/\1/p' "$log")
if [ "${total:-0}" -eq 0 ]; then
    echo "== $preset ran no test"
    total=1
    bad=1
fi
fuzzed=$(grep -c '^fuzz \(passed\|failed\)$' "$log")
bad=$((bad + $(grep -c '^fuzz failed$' "$log")))
echo "$((total + fuzzed - bad)) $bad" >"build/$preset.count"
