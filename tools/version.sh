#!/bin/sh
# Prints the version that include/takt/version.h has, as major.minor.patch; with
# --major the first number, which is that of the shared library.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define TAKT_VERSION_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)$/\2/p' \
    include/takt/version.h | paste -sd .)
case ${1:-} in
--major) echo "${version%%.*}" ;;
*) echo "$version" ;;
esac
