#!/bin/sh
# Runs a command whose output goes to LOG, and shows where it is: on a terminal
# a line that changes, elsewhere one every ten seconds. If it fails, all that it
# wrote is shown.
# usage: tools/progress.sh WHAT LOG COMMAND...
set -u
what=$1
log=$2
shift 2

show() {
    last=$(tail -n 1 "$log" | tr -d '\r' | cut -c 1-60)
    if [ -t 2 ]; then
        printf '\r\033[K%s: %s s %s' "$what" "$1" "$last" >&2
    else
        printf '%s: %s s %s\n' "$what" "$1" "$last" >&2
    fi
}

watch() {
    seconds=0
    while sleep 1 >/dev/null 2>&1; do
        seconds=$((seconds + 1))
        if [ -t 2 ] || [ $((seconds % 10)) -eq 0 ]; then
            show "$seconds"
        fi
    done
}

: >"$log"
watch </dev/null >/dev/null &
watcher=$!
trap 'kill "$watcher" 2>/dev/null' EXIT
"$@" >"$log" 2>&1
code=$?
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
trap - EXIT
if [ -t 2 ]; then
    printf '\r\033[K' >&2
fi
[ "$code" -eq 0 ] || cat "$log"
exit "$code"
