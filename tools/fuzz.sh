#!/bin/sh
# Runs every fuzz target for SECONDS, starting from its corpus.
# usage: tools/fuzz.sh SECONDS
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?usage: tools/fuzz.sh SECONDS}

mkdir -p build
{ cmake --preset fuzz && cmake --build --preset fuzz; } >build/fuzz.log 2>&1 ||
    { cat build/fuzz.log; exit 1; }
for target in build/fuzz/fuzz/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=$(basename "$target")
    echo "== $name"
    mkdir -p "build/fuzz/corpus/$name"
    seeds=
    [ -d "fuzz/corpus/$name" ] && seeds="fuzz/corpus/$name"
    log=build/fuzz/$name.log
    # shellcheck disable=SC2086
    if ! "$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 \
        -print_final_stats=1 -verbosity=0 -artifact_prefix=build/fuzz/ \
        "build/fuzz/corpus/$name" $seeds >"$log" 2>&1; then
        tail -n 40 "$log"
        exit 1
    fi
    sed -n 's/^stat::number_of_executed_units: */   inputs tried: /p' "$log"
done
