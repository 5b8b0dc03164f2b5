#!/bin/sh
# Compiles tree-sitter's runtime and the grammars that tools/npm.sh installed in
# PACKAGES into TARGET/libgrammars.a, with the runtime's header beside it in
# TARGET/include. It is other people's code and the same for every preset, so
# it is built once, with no sanitizers. Does nothing, quickly, when the packages
# and the compiler ($CC, or gcc) are those of the last time.
#
# usage: tools/grammars.sh PACKAGES TARGET
set -eu

if [ $# -ne 2 ]; then
    echo "usage: tools/grammars.sh PACKAGES TARGET" >&2
    exit 2
fi
modules=$1/node_modules
target=$2
cc=${CC:-gcc}
ar=${AR:-$(${cc} -print-prog-name=ar)}

mkdir -p "$target"
exec 9>"$target/.lock" # several builds may share the target
flock 9
wanted=$({
    cat "$1/package-lock.json" "$0"
    $cc -dumpmachine
    $cc -dumpfullversion 2>/dev/null || $cc -dumpversion
} | sha256sum)
if [ "$wanted" = "$(cat "$target/.stamp" 2>/dev/null)" ] &&
    [ -e "$target/libgrammars.a" ]; then
    exit 0
fi

rm -rf "$target/.stamp" "$target/objects" "$target/libgrammars.a"
mkdir -p "$target/objects" "$target/include/tree_sitter"
runtime=$modules/tree-sitter/vendor/tree-sitter/lib
cp "$runtime/include/tree_sitter/api.h" "$target/include/tree_sitter/api.h"

# compile NAME LEVEL SOURCE INCLUDE...
compile() {
    object=$target/objects/$1.o level=$2 unit=$3
    shift 3
    for folder; do
        set -- "$@" -I "$folder"
        shift
    done
    $cc -std=c11 -D_DEFAULT_SOURCE -D_POSIX_C_SOURCE=200112L "-$level" -w \
        -fPIC -fvisibility=hidden -fstack-protector-strong \
        -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 \
        -ffile-prefix-map="$modules=grammars" \
        -include "$used" "$@" -c "$unit" -o "$object" 9>&-
}

# Scanners take their memory where the runtime does: scan/memory.c sees to it
# that there is some. None of them looks.
prelude=$target/objects/prelude.h
cat >"$prelude" <<'END'
#include <stdlib.h>
#define TREE_SITTER_REUSE_ALLOCATOR
#define malloc ts_malloc
#define calloc ts_calloc
#define realloc ts_realloc
#define free ts_free
END
used=/dev/null # before a source

compile runtime O2 "$runtime/src/lib.c" "$runtime/include" "$runtime/src"
for language in tree-sitter-c tree-sitter-cpp tree-sitter-python \
    tree-sitter-rust @tree-sitter-grammars/tree-sitter-toml; do
    folder=$modules/$language/src
    name=${language##*-}
    # A parser is tables and one large switch, which O1 does nearly as well in
    # a third of the time.
    compile "$name" O1 "$folder/parser.c" "$folder"
    if [ -e "$folder/scanner.c" ]; then
        used=$prelude
        compile "$name-scanner" O2 "$folder/scanner.c" "$folder"
        used=/dev/null
    fi
done
"$ar" rcs "$target/libgrammars.a" "$target"/objects/*.o
rm -r "$target/objects"
echo "$wanted" >"$target/.stamp"
