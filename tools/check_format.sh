#!/bin/sh
# Every C source is as clang-format writes it.
set -eu
cd "$(dirname "$0")/.."
git ls-files '*.[ch]' '*.cpp' 2>/dev/null | xargs clang-format --dry-run -Werror
