#!/bin/sh
# Each public header stands alone, as C17 and as C++17, without a warning.
set -eu
cd "$(dirname "$0")/.."
for header in include/takt/*.h; do
    name=takt/$(basename "$header")
    printf '#include <%s>\nint main(void);\n' "$name" | cc -std=c17 -pedantic-errors -Wall -Wextra \
        -Werror -Iinclude -fsyntax-only -x c -
    printf '#include <%s>\n' "$name" | c++ -std=c++17 -pedantic-errors -Wall -Wextra \
        -Werror -Iinclude -fsyntax-only -x c++ -
done
