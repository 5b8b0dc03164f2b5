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

# A program without any shared library, where the C library can be had so.
static=$(pkg-config --define-prefix --static --cflags --libs takt)
echo 'int main(void) { return 0; }' >"$work/empty.c"
if cc -static "$work/empty.c" -lsqlite3 -lm -o "$work/empty" 2>"$work/log"
then
    for how in -static -static-pie; do
        # shellcheck disable=SC2086
        cc -std=c17 $how "$consumer/alone.c" -o "$work/alone" $static \
            2>"$work/log" || { cat "$work/log"; exit 1; }
        TAKT_DB='' "$work/alone" "$work/learned.db"
        test -s "$work/learned.db"
        rm "$work/learned.db"
    done
fi

cc -std=c17 -Wall -Werror "$consumer/late.c" -o "$work/late" -ldl
TAKT_THREADS=2 "$work/late" "$lib/libtakt.so"

# Nothing but the exporter knows a network, and it is found when it is asked for.
if objdump -p "$lib/libtakt.so" "$prefix/bin/takt" |
    grep -E 'NEEDED.*(curl|ssl|crypto|libz)'; then
    echo "libtakt.so or takt needs what only libtakt-otel.so may need"
    exit 1
fi
if [ -e "$lib/libtakt-otel.so" ]; then
    test "$(nm -D --defined-only "$lib/libtakt-otel.so" |
        awk '$2 != "A" {print $3}')" = takt_otel_open@@TAKT_OTEL_0
    LD_LIBRARY_PATH=$lib TAKT_OTLP_FILE=$work/trace.jsonl \
        TAKT_TRACE_DEBUG=1 "$work/by_pkg_config"
    grep -q '"name":"backend_selection: ' "$work/trace.jsonl"
fi

"$prefix/bin/takt" version
test -s "$(find "$prefix" -name takt-select.1)"
test -s "$(find "$prefix" -path '*bash-completion*' -name takt)"

nm -D --defined-only "$lib/libtakt.so" | awk '$2 != "A" {print $3}' |
    sed 's/@.*//' | sort >"$work/symbols"
if ! diff -u "$source/tests/install/takt.symbols" "$work/symbols"; then
    echo "the exported symbols are not those of tests/install/takt.symbols"
    exit 1
fi
