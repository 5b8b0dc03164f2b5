#!/bin/sh
# Runs the failed tests of a preset once more, one at a time, when nothing else
# of the run is at work. A test that passes now has not passed steadily: it is
# named in the last lines of `make test` and is to be mended, but it does not
# hold up a change. More than three failed tests are no accident and stay failed.
# Changes build/PRESET.count to PASSED FAILED and adds names to build/unsteady.
# usage: tools/test_again.sh PRESET
set -u
cd "$(dirname "$0")/.."
preset=${1:?usage: tools/test_again.sh PRESET}
log=build/$preset.again.log
failed=build/$preset/Testing/Temporary/LastTestsFailed.log

[ -s "$failed" ] || exit 0
names=$(sed 's/^[0-9]*://' "$failed")
count=$(echo "$names" | wc -l)
[ "$count" -le 3 ] || exit 0
ctest --test-dir "build/$preset" --rerun-failed --output-on-failure \
    </dev/null 2>&1 | tee "$log" | sed -u "s/^/$preset again: /"

read -r good bad <"build/$preset.count"
for name in $names; do
    if grep -q "Test *#[0-9]*: $name \.* *Passed" "$log"; then
        echo "$preset: $name" >>build/unsteady
        good=$((good + 1))
        bad=$((bad - 1))
    fi
done
echo "$good $bad" >"build/$preset.count"
