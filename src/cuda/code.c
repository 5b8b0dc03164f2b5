/* SPDX-License-Identifier: MIT */
/*
 * code.c - the device code, which lies in this file as text.
 *
 * It is made from the sources in device/ by tools/cuda_code.sh and kept with
 * them, so that building Takt takes no CUDA compiler. TAKT_CUDA_CODE_DIR is the
 * folder of the texts.
 */
#include "cuda/kernels.h"

#define TEXT(module)                                               \
    __asm__(".pushsection .rodata\n"                               \
            ".hidden takt__cuda_text_" #module "\n"                \
            ".globl takt__cuda_text_" #module "\n"                 \
            "takt__cuda_text_" #module ":\n"                       \
            ".incbin \"" TAKT_CUDA_CODE_DIR "/" #module ".ptx\"\n" \
            ".byte 0\n"                                            \
            ".popsection\n");                                      \
    extern const char takt__cuda_text_##module[];

#define TAKT_CUDA_MODULE(module) TEXT(module)
#include "cuda/kernels.def"

const char *takt__cuda_code_text(enum takt_cuda_module module)
{
    static const char *const text[TAKT_CUDA_MODULES] = {
#define TAKT_CUDA_MODULE(module) takt__cuda_text_##module,
#include "cuda/kernels.def"
    };
    return text[module];
}
