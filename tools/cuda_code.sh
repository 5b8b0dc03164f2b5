#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the device code that Takt ships, src/cuda/device/*.ptx, from its sources
# beside it, with NVIDIA's compiler ($NVCC, or nvcc where it usually is).
#
#   tools/cuda_code.sh           writes it
#   tools/cuda_code.sh --check   compares; without a compiler there is nothing
#                                to compare, which is no failure
#
# The text is for the oldest devices the compiler knows; the driver translates
# it for the one it finds. It says the lowest version of the language that it
# is written in, so that drivers older than the compiler take it too.
set -eu

cd "$(dirname "$0")/../src"
folder=cuda/device
version=6.3
release=13.0 # of the compiler; another one writes other text
modules=$(sed -n 's/^TAKT_CUDA_MODULE(\([a-z]*\))$/\1/p' cuda/kernels.def)

nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if ! command -v "$nvcc" >/dev/null 2>&1; then
    [ "${1:-}" = --check ] || { echo "there is no nvcc here" >&2; exit 1; }
    echo "skipped: there is no nvcc here to compare the device code with"
    exit 0
fi
if ! "$nvcc" --version | grep -q "release $release,"; then
    [ "${1:-}" = --check ] || echo "note: the shipped code is of nvcc $release"
    if [ "${1:-}" = --check ]; then
        echo "skipped: this nvcc is not $release, so its text differs"
        exit 0
    fi
fi

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

# Without comments and blanks, which name the build and are a tenth of it.
make_module()
{
    "$nvcc" -ptx -arch=compute_75 -O3 -std=c++17 -fmad=false -prec-div=true \
        -prec-sqrt=true -ftz=false -I. "$folder/$1.cu" -o "$made/$1.raw"
    sed -e 's,//.*,,' -e 's/^[ 	]*//' -e 's/[ 	]*$//' -e '/^$/d' \
        -e 's/[ 	][ 	]*/ /g' -e 's/, /,/g' \
        -e "s/^\.version .*/.version $version/" "$made/$1.raw" >"$made/$1.ptx"
}

status=0
for module in $modules; do
    make_module "$module"
    if [ "${1:-}" != --check ]; then
        cp "$made/$module.ptx" "$folder/$module.ptx"
    elif ! cmp -s "$made/$module.ptx" "$folder/$module.ptx"; then
        echo "src/$folder/$module.ptx is not what $module.cu becomes:" \
            "run tools/cuda_code.sh" >&2
        status=1
    fi
done
[ "$status" -ne 0 ] || [ "${1:-}" != --check ] ||
    echo "the device code is what its sources become"
exit $status
