#!/bin/sh
# Installs the npm packages that SOURCE/package-lock.json names into
# TARGET/node_modules, so that none lie in the source tree. Does nothing,
# quickly, when they are there; exits with 77 (skipped) when they cannot be had.
#
# usage: tools/npm.sh SOURCE TARGET
set -eu

if [ $# -ne 2 ]; then
    echo "usage: tools/npm.sh SOURCE TARGET" >&2
    exit 2
fi
source=$1
target=$2

skip() {
    echo "npm: $1; the tests that need the packages of $source are skipped" >&2
    exit 77
}

command -v npm >/dev/null || skip "npm is not installed"
mkdir -p "$target"
exec 9>"$target/.lock" # several builds may share the target
flock 9
if cmp -s "$source/package-lock.json" "$target/package-lock.json" &&
    [ -e "$target/.complete" ]; then
    exit 0
fi

echo "npm: installing the packages of $source"
rm -f "$target/.complete"
cp "$source/package.json" "$source/package-lock.json" "$target"
# Nothing of theirs is run here, and what is cached is not asked for again. The
# lock file says what is installed; npm 9, which Debian 12 has, would refuse it
# for a peer dependency that is optional.
if ! (cd "$target" && npm ci --legacy-peer-deps --ignore-scripts --no-audit --no-fund \
    --prefer-offline --fetch-retries=2 --fetch-retry-mintimeout=1000 \
    --fetch-retry-maxtimeout=5000 --loglevel=error >npm.log 2>&1 9>&-); then
    tail -n 5 "$target/npm.log" >&2
    skip "cannot install ($target/npm.log says why)"
fi
touch "$target/.complete"
