#!/bin/sh
# Installs Takt under a prefix of its own, which has a space in its name, and
# uses it as a stranger would, by what README.md says: by pkg-config and by
# CMake, shared and static, from C and from C++. Then checks the symbols, a
# staged installation, and that nothing is left when it is removed.
set -eu
source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/a prefix"
consumer=$source/tests/install/consumer
unset PKG_CONFIG_PATH DESTDIR LD_LIBRARY_PATH

fail() {
    echo "test_install: $*" >&2
    exit 1
}

# The lines of the first block of README.md that is in LANGUAGE and has WORD.
readme() {
    awk -v opening='```'"$1" -v word="$2" '
        $0 == opening { inside = 1; text = ""; next }
        /^```$/ && inside { if (index(text, word)) { printf "%s", text; exit }
                            inside = 0 }
        inside { text = text $0 "\n" }' "$source/README.md"
}

# The folder of the sources is no prefix: the headers would be removed with it.
mkdir -p "$work/sources/tools"
cp "$source/tools/install.sh" "$work/sources/tools/"
ln -s sources "$work/link"
for place in "$work/sources" "$work/link" . tools/..; do
    if "$work/sources/tools/install.sh" install "$place" "$build" \
        2>"$work/said"; then
        fail "installed into the folder of the sources, $place"
    fi
    grep -q 'use another PREFIX' "$work/said" || fail "$(cat "$work/said")"
done

# A folder that was there before stays, and so does a file of somebody else's.
mkdir -p "$prefix/bin" "$prefix/share/man"
echo theirs >"$prefix/share/man/theirs"
"$source/tools/install.sh" install "$prefix" "$build"
lib=$(dirname "$(find "$prefix" -name libtakt.so)")

# ---- the program of README.md, by the lines of README.md
mkdir "$work/app"
readme c 'int main' >"$work/app/app.c"
readme cmake find_package >"$work/app/CMakeLists.txt"
readme sh pkg-config >"$work/app/lines"
grep -q takt_matmul "$work/app/app.c" || fail "README.md has no program"
mkdir "$work/opt"
ln -s "$prefix" "$work/opt/takt" # its lines cannot have a space in them
(cd "$work/app" && HOME=$work && export HOME && . ./lines)
cmake -S "$work/app" -B "$work/app/build" -G Ninja \
    -DCMAKE_PREFIX_PATH="$prefix" >"$work/log"
cmake --build "$work/app/build" >>"$work/log" || { cat "$work/log"; exit 1; }
TAKT_DB=
export TAKT_DB
for program in app app_static build/app build/app_static; do
    said=$("$work/app/$program")
    [ "$said" = "19 22 43 50" ] || fail "$program of README.md says '$said'"
done
for program in app_static build/app_static; do
    if readelf -d "$work/app/$program" | grep -q 'NEEDED.*libtakt'; then
        fail "$program needs libtakt.so, though it was to have it inside"
    fi
done

# ---- the same from a folder with a space, and in C++
export PKG_CONFIG_PATH="$lib/pkgconfig"
pkg-config --cflags --libs takt | xargs c++ -Wall -Werror -x c++ \
    "$work/app/app.c" -x none -o "$work/app/app_cxx" -Wl,-rpath,"$lib"
"$work/app/app_cxx" >"$work/log"
pkg-config --static --libs takt >"$work/log"
for word in -lsqlite3 -lm -ldl -pthread; do
    grep -q -e "$word" "$work/log" || fail "--static lacks $word"
done
cmake -S "$consumer" -B "$work/consumer" -G Ninja \
    -DCMAKE_PREFIX_PATH="$prefix" >"$work/log"
cmake --build "$work/consumer" >>"$work/log" || { cat "$work/log"; exit 1; }
"$work/consumer/consumer_c"
"$work/consumer/consumer_cxx"
"$work/consumer/consumer_static"

# ---- the examples, as they are installed
doc=$(dirname "$(find "$prefix/share" -path '*doc*' -name README.md)")
cp -r "$doc/examples" "$work/examples"
make -C "$work/examples" CFLAGS='-O1 -Wall -Wextra -Werror' >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
TAKT_GPU='' "$work/examples/ask" >"$work/log"
test -s "$doc/docs/architecture.md"
test -s "$doc/docs/formats/pin.md"

# A program without any shared library, where the C library can be had so.
static=$(pkg-config --static --cflags --libs takt)
echo 'int main(void) { return 0; }' >"$work/empty.c"
if cc -static "$work/empty.c" -lsqlite3 -lm -o "$work/empty" 2>"$work/log"
then
    for how in -static -static-pie; do
        echo "$static" | xargs cc -std=c17 $how "$consumer/alone.c" \
            -o "$work/alone" 2>"$work/log" || { cat "$work/log"; exit 1; }
        TAKT_DB='' TAKT_OTLP_FILE="$work/otlp" "$work/alone" \
            "$work/learned.db" 2>"$work/said"
        grep -q 'no exporter: a static program loads no library$' \
            "$work/said" || fail "$(cat "$work/said")"
        test -s "$work/learned.db"
        rm "$work/learned.db"
    done
fi

# ---- libraries
cc -std=c17 -Wall -Werror "$consumer/late.c" -o "$work/late" -ldl
TAKT_THREADS=2 "$work/late" "$lib/libtakt.so"

# Nothing but the exporter knows a network, and it is found when it is asked for.
if objdump -p "$lib/libtakt.so" "$prefix/bin/takt" |
    grep -E 'NEEDED.*(curl|ssl|crypto|libz)'; then
    fail "libtakt.so or takt needs what only libtakt-otel.so may need"
fi
if [ -e "$lib/libtakt-otel.so" ]; then
    test "$(nm -D --defined-only "$lib/libtakt-otel.so" |
        awk '$2 != "A" {print $3}' | tr '\n' ' ')" = \
        "takt_otel_open@@TAKT_OTEL_0 takt_otel_watch@@TAKT_OTEL_0 "
    TAKT_OTLP_FILE=$work/trace.jsonl TAKT_TRACE_DEBUG=1 "$work/app/app"
    grep -q '"name":"backend_selection: ' "$work/trace.jsonl"
    objdump -p "$lib/libtakt-otel.so" | grep -q 'RUNPATH.*\$ORIGIN' ||
        fail "libtakt-otel.so does not find libtakt.so beside it"
fi

"$prefix/bin/takt" version
test -s "$(find "$prefix" -name takt-select.1)"
man3=$(dirname "$(find "$prefix" -name takt_run.3)")
[ -s "$(dirname "$man3")/man7/takt-tutorial.7" ] || fail "there is no tutorial"
[ -s "$doc/html/man3/takt_run.html" ] || fail "there is no HTML manual"
test -s "$(find "$prefix" -path '*bash-completion*' -name takt)"

nm -D --defined-only "$lib/libtakt.so" | awk '$2 != "A" {print $3}' |
    sed 's/@.*//' | sort >"$work/symbols"
if ! diff -u "$source/tests/install/takt.symbols" "$work/symbols"; then
    fail "the exported symbols are not those of tests/install/takt.symbols"
fi

# ---- moved as a whole, it works where it is then
mv "$prefix" "$work/moved"
PKG_CONFIG_PATH=$work/moved/lib/pkgconfig \
    pkg-config --cflags --libs takt | xargs cc "$work/app/app.c" \
    -o "$work/app/moved" -Wl,-rpath,"$work/moved/lib"
"$work/app/moved" >"$work/log"
mv "$work/moved" "$prefix"

# ---- staged: nothing outside of the stage, and the same files
DESTDIR="$work/stage" "$source/tools/install.sh" install "$work/real" "$build"
[ ! -e "$work/real" ] || fail "DESTDIR was not respected"
(cd "$prefix" && find . -type f ! -name theirs ! -name installed | sort) \
    >"$work/direct"
(cd "$work/stage$work/real" && find . -type f ! -name installed | sort) \
    >"$work/staged"
diff -u "$work/direct" "$work/staged" || fail "a stage gets other files"
DESTDIR="$work/stage" "$source/tools/install.sh" uninstall "$work/real"
[ ! -e "$work/stage$work/real" ] || fail "the stage was not emptied"

# ---- installed twice, the first time as a version with more, removed once
mkdir "$prefix/share/doc/takt/more"
echo old >"$prefix/share/doc/takt/more/page"
printf 'f share/doc/takt/more/page\nd share/doc/takt/more\n' \
    >>"$prefix/share/doc/takt/installed"
"$source/tools/install.sh" install "$prefix" "$build"
[ ! -e "$prefix/share/doc/takt/more" ] ||
    fail "what an earlier version installed is still there"
"$source/tools/install.sh" uninstall "$prefix"
left=$(cd "$prefix" && find . | sort | tr '\n' ' ')
[ "$left" = ". ./bin ./share ./share/man ./share/man/theirs " ] ||
    fail "left behind: $left"
if "$source/tools/install.sh" uninstall "$prefix" 2>/dev/null; then
    fail "what is not installed was removed"
fi

# ---- an installation that fails is removed, too
mkdir -p "$work/half"
echo theirs >"$work/half/lib"
if "$source/tools/install.sh" install "$work/half" "$build" >"$work/log"; then
    fail "a file in the place of a folder was passed over"
fi
"$source/tools/install.sh" uninstall "$work/half"
left=$(cd "$work/half" && find . | sort | tr '\n' ' ')
[ "$left" = ". ./lib " ] || fail "left of half an installation: $left"
