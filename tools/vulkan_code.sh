#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles the shaders of src/vulkan/shaders into src/vulkan/spirv.inc, which is
# kept in the repository: builds need no compiler of shaders.
#   --check  fails when that file is not what the shaders say. The code itself
#            is compared only if the same compiler is here; others may write
#            other code for the same shaders.
set -eu
cd "$(dirname "$0")/../src/vulkan"
shaders="map transpose reduce rows gemm gemv conv2d pooling probe"
made=spirv.inc

sources() { cat shaders/*.comp shaders/*.glsl shaders/*.h; }
sum=$(sources | sha256sum | cut -d ' ' -f 1)
compiler=$(glslangValidator --version 2>/dev/null | head -n 1 || true)

write() {
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    cat <<END
/* SPDX-License-Identifier: MIT */
/*
 * spirv.inc - the shaders as Vulkan takes them, by tools/vulkan_code.sh.
 * compiler: $compiler
 * sources: $sum
 */
/* clang-format off */
END
    for shader in $shaders; do
        glslangValidator -g0 --quiet --target-env vulkan1.1 \
            -o "$folder/code" "shaders/$shader.comp" >&2
        echo "static const uint32_t ${shader}_code[] = {"
        od -An -v -tx4 -w24 "$folder/code" | sed 's/ \([0-9a-f]*\)/0x\1,/g'
        echo "};"
    done
    echo "/* clang-format on */"
}

if [ "${1-}" != --check ]; then
    write >"$made.new"
    mv "$made.new" "$made"
    exit
fi
if ! grep -q "^ \* sources: $sum\$" "$made"; then
    echo "$made is not from these shaders: run tools/vulkan_code.sh" >&2
    exit 1
fi
if [ -z "$compiler" ]; then
    echo "the code was not compared: there is no glslangValidator"
elif ! grep -qF " * compiler: $compiler" "$made"; then
    echo "the code was not compared: it is by another glslangValidator"
else
    write | cmp - "$made"
    echo "$made is what the shaders say"
fi
