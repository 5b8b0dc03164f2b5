#!/bin/sh
# Prints the time that what is built for a release bears, in seconds since 1970:
# $SOURCE_DATE_EPOCH, else that of the last commit, which a source tarball has in
# packaging/epoch.
set -eu
cd "$(dirname "$0")/.."
if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
    echo "$SOURCE_DATE_EPOCH"
elif [ -f packaging/epoch ]; then
    cat packaging/epoch
else
    git log -1 --format=%ct
fi
