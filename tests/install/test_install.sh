#!/bin/sh
# Installs Takt under a prefix of its own and uses it as a stranger would: by
# find_package, by pkg-config, from C and from C++; then checks the symbols.
set -eu
source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
consumer=$source/tests/install/consumer

cmake --install "$build" --prefix "$prefix" >"$work/log"

cmake -S "$consumer" -B "$work/consumer" -G Ninja \
    -DCMAKE_PREFIX_PATH="$prefix" >"$work/log"
cmake --build "$work/consumer" >>"$work/log" || { cat "$work/log"; exit 1; }
"$work/consumer/consumer_c"
"$work/consumer/consumer_cxx"
"$work/consumer/consumer_static"

lib=$(dirname "$(find "$prefix" -name libtakt.so)")
export PKG_CONFIG_PATH="$lib/pkgconfig"
# The prefix is not where it was configured for, as after a package's DESTDIR.
flags=$(pkg-config --define-prefix --cflags --libs takt)
# shellcheck disable=SC2086
cc -std=c17 "$consumer/consumer.c" -o "$work/by_pkg_config" $flags
LD_LIBRARY_PATH=$lib "$work/by_pkg_config"

cc -std=c17 -Wall -Werror "$consumer/late.c" -o "$work/late" -ldl
TAKT_THREADS=2 "$work/late" "$lib/libtakt.so"

"$prefix/bin/takt" version
test -s "$(find "$prefix" -name takt-select.1)"
test -s "$(find "$prefix" -path '*bash-completion*' -name takt)"

nm -D --defined-only "$lib/libtakt.so" | awk '$2 != "A" {print $3}' |
    sed 's/@.*//' | sort >"$work/symbols"
if ! diff -u "$source/tests/install/takt.symbols" "$work/symbols"; then
    echo "the exported symbols are not those of tests/install/takt.symbols"
    exit 1
fi
