#!/bin/sh
# Checks that the scanners of tree-sitter's grammars take their memory where
# scan/memory.c sees to it that there is some: none of them looks.
#
# usage: test_grammars.sh LIBGRAMMARS
set -eu

symbols=$(nm -A "$1")
echo "$symbols" | grep -q 'python-scanner.o:.* U ts_current_calloc$'
if echo "$symbols" | grep -E 'scanner.o:.* U (malloc|calloc|realloc)$'; then
    exit 1
fi
