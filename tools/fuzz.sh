#!/bin/sh
# Runs every fuzz target for SECONDS, starting from its corpus, as many at once
# as there are processors. They are those of PRESET: "fuzzing", which is
# optimised, or "asan", which `make test` has built anyway.
# usage: tools/fuzz.sh SECONDS [PRESET]
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?usage: tools/fuzz.sh SECONDS [PRESET]}
preset=${2:-fuzzing}

# One target; what it has to say only if it fails.
if [ $# -eq 3 ]; then
    target=$3
    name=$(basename "$target")
    mkdir -p "build/fuzz/corpus/$name"
    seeds=
    [ -d "fuzz/corpus/$name" ] && seeds="fuzz/corpus/$name"
    log=build/fuzz/$name.log
    # shellcheck disable=SC2086
    if ! "$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 \
        -print_final_stats=1 -verbosity=0 "-artifact_prefix=build/fuzz/$name-" \
        "build/fuzz/corpus/$name" $seeds >"$log" 2>&1; then
        echo "== $name failed"
        tail -n 40 "$log"
        exit 255 # no further one is begun
    fi
    tried=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "== $name: $tried inputs"
    exit
fi

mkdir -p build
tools/progress.sh "fuzz: configure" build/fuzz.log cmake --preset "$preset"
tools/progress.sh "fuzz: build" build/fuzz.log \
    cmake --build --preset "$preset" --target fuzz/all
find "build/$preset/fuzz" -maxdepth 1 -name 'fuzz_*' -type f -executable | sort |
    xargs -P "$(nproc)" -n 1 tools/fuzz.sh "$seconds" "$preset"
