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

add_compile_options(-fstack-protector-strong)
foreach(flag -fstack-clash-protection -fcf-protection=full
        -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "TAKT_HAS${flag}" known)
    check_c_compiler_flag(${flag} ${known})
    if(${known})
        add_compile_options(${flag})
    endif()
endforeach()

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
