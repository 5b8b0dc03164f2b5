#!/bin/sh
# Runs every fuzz target for SECONDS, starting from its corpus.
# usage: tools/fuzz.sh SECONDS
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?usage: tools/fuzz.sh SECONDS}

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
for target in build/fuzz/fuzz/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=$(basename "$target")
    echo "== $name"
    mkdir -p "build/fuzz/corpus/$name"
    seeds=
    [ -d "fuzz/corpus/$name" ] && seeds="fuzz/corpus/$name"
    # shellcheck disable=SC2086
    "$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 \
        -print_final_stats=0 -verbosity=0 "build/fuzz/corpus/$name" $seeds
done
