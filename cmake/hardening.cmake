# What makes memory errors harder to exploit, for everything that is built here.
# Sanitizers find such errors themselves and do not go well with _FORTIFY_SOURCE.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckPIESupported)
check_pie_supported()

add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
if(CMAKE_C_FLAGS MATCHES "-fsanitize=")
    return()
endif()

# On the path of a call the protector guards arrays of characters alone: to guard
# every function that has an array or passes an address made takt_run() 5 ns
# (9%) slower (bench_call).
add_compile_options(-fstack-protector-strong)
set(takt_light_protection -fstack-protector)
check_c_compiler_flag(-fstack-clash-protection TAKT_HAS_STACK_CLASH)
if(TAKT_HAS_STACK_CLASH)
    add_compile_options(-fstack-clash-protection)
endif()
# No -fcf-protection: it makes takt_run() 1 ns slower, and is of use only when
# every object of a process has it.

# It needs optimisation; level 3 needs a compiler that knows sizes at run time.
if(CMAKE_BUILD_TYPE MATCHES "Rel" OR CMAKE_C_FLAGS MATCHES "-O[1-9sgz]")
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_c_source_compiles("
        #include <stdio.h>
        #include <string.h>
        #if !defined __USE_FORTIFY_LEVEL || __USE_FORTIFY_LEVEL < 3
        #error not supported
        #endif
        int main(void) { return 0; }" TAKT_HAS_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    set(level 2)
    if(TAKT_HAS_FORTIFY_3)
        set(level 3)
    endif()
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
endif()
