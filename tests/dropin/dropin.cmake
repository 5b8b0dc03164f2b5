# The tests of dropin/; tests/CMakeLists.txt includes this.
# A test of single files of dropin/.
function(dropin_test name)
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/dropin/ REGEX "^[a-z]"
         OUTPUT_VARIABLE sources)
    takt_test(dropin/test_${name} ${sources})
    if(TARGET dropin_test_${name})
        target_include_directories(dropin_test_${name} BEFORE PRIVATE
            dropin ${PROJECT_SOURCE_DIR}/dropin)
        target_compile_definitions(dropin_test_${name} PRIVATE _GNU_SOURCE)
    endif()
endfunction()
dropin_test(triangular triangular.c)
dropin_test(switchback switchback.c kind.c fork.c sides.c spinning.c)
dropin_test(effect effect.c effect_sum.c kind.c fork.c sides.c)
dropin_test(program_history program_history.c)
dropin_test(expectation expectation.c)
dropin_test(teams team_choice.c running_mean.c library_threads.c fork.c)
dropin_test(loops loop_choice.c running_mean.c loop_reduce.c loop_split.c)
dropin_test(array_memory array_memory.c)
dropin_test(warm lapack_warm.c)
dropin_test(lapack_history lapack_history.c lapack_kind.c lapack_solver.c
    team_choice.c running_mean.c)
dropin_test(products product.c product_copy.c product_isa.c
    ${takt_dropin_tiles})
dropin_test(tracking tracking.c)

# The rest needs a baseline BLAS that records its calls; several of them, of
# one source, and programs that call them.
if(NOT CMAKE_CROSSCOMPILING)
    set(dropin ${CMAKE_CURRENT_BINARY_DIR}/dropin)
    add_library(baseline_parts OBJECT
        dropin/baseline_words.c dropin/baseline_math.c dropin/baseline_caller.c)
    set_target_properties(baseline_parts PROPERTIES POSITION_INDEPENDENT_CODE ON)
    function(dropin_target target)
        target_include_directories(${target} PRIVATE . dropin
            ${PROJECT_SOURCE_DIR}/dropin)
        target_link_libraries(${target} PRIVATE takt_flags m ${CMAKE_DL_LIBS})
        set_target_properties(${target} PROPERTIES PREFIX ""
            LIBRARY_OUTPUT_DIRECTORY ${dropin}
            RUNTIME_OUTPUT_DIRECTORY ${dropin})
    endfunction()
    dropin_target(baseline_parts)
    function(dropin_blas name)
        add_library(libbaseline_${name} SHARED dropin/baseline_blas.c
            $<TARGET_OBJECTS:baseline_parts>)
        target_compile_definitions(libbaseline_${name} PRIVATE ${ARGN})
        dropin_target(libbaseline_${name})
    endfunction()
    dropin_blas(all)
    if(NOT single_threaded)
        dropin_blas(plt BASELINE_THROUGH_PLT)
    endif()

    # Sanitizers want to be loaded first; and one compiler is enough for what
    # depends on the loader.
    set(is_preloadable OFF)
    if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=" AND
       CMAKE_C_COMPILER_ID STREQUAL GNU)
        set(is_preloadable ON)
    endif()

    # Every name with every argument: each library, each way of routing.
    add_executable(dropin_names dropin/test_names.c
        $<TARGET_OBJECTS:baseline_parts>)
    dropin_target(dropin_names)
    add_dependencies(dropin_names takt_blas_preload)
    set(usual "A=")
    set(eager "TAKT_RUN_EAGER=1")
    set(scalar "TAKT_RUN_EAGER=1;TAKT_EXPERT=scalar")
    set(avx2 "TAKT_RUN_EAGER=1;TAKT_EXPERT=simd.avx2")
    set(modes usual eager scalar)
    if(EXISTS /proc/cpuinfo)
        file(STRINGS /proc/cpuinfo has_avx2 REGEX "^flags.* avx2 " LIMIT_COUNT 1)
        if(has_avx2)
            list(APPEND modes avx2)
        endif()
    endif()
    set(libraries all plt fortran blas64)
    if(NOT CMAKE_C_COMPILER_ID STREQUAL GNU OR
       NOT CMAKE_BUILD_TYPE STREQUAL Release) # once is enough for the rest
        set(libraries all plt)
        set(modes eager)
        if(single_threaded) # of the loader's ways one is enough
            set(libraries all)
        endif()
    else()
        dropin_blas(fortran BASELINE_ONLY_FORTRAN)
        dropin_blas(blas64 BASELINE_WIDE)
    endif()
    foreach(library ${libraries})
        set(width)
        if(library STREQUAL blas64)
            set(width wide)
        endif()
        set(of_library ${modes})
        if(NOT library STREQUAL all) # which expert runs a call shows in one
            list(REMOVE_ITEM of_library scalar avx2)
        endif()
        foreach(mode ${of_library})
            set(test dropin/names.${library}.${mode})
            add_test(NAME ${test} COMMAND dropin_names
                $<TARGET_FILE:takt_blas_preload>
                $<TARGET_FILE:libbaseline_${library}> ${width})
            set_tests_properties(${test} PROPERTIES TIMEOUT 600
                ENVIRONMENT "TAKT_DB=;TAKT_GPU=;${${mode}}")
        endforeach()
    endforeach()

    # Every name of LAPACK, on the program's threads and on fewer; and of those
    # whose integers are wide, by their file name or by what their BLAS does.
    function(dropin_lapack_library name)
        add_library(libbaseline_${name} SHARED dropin/baseline_lapack.c)
        target_compile_definitions(libbaseline_${name} PRIVATE ${ARGN})
        dropin_target(libbaseline_${name})
    endfunction()
    function(dropin_lapack_test name program library environment)
        add_test(NAME dropin/${name} COMMAND ${program}
            $<TARGET_FILE:takt_blas_preload>
            $<TARGET_FILE:libbaseline_${library}> ${ARGN})
        set_tests_properties(dropin/${name} PROPERTIES TIMEOUT 600
            ENVIRONMENT "TAKT_DB=;TAKT_GPU=;${environment}")
    endfunction()
    foreach(program lapack wide)
        add_executable(dropin_${program} dropin/test_${program}.c)
        dropin_target(dropin_${program})
        add_dependencies(dropin_${program} takt_blas_preload)
    endforeach()
    dropin_lapack_library(lapack)
    dropin_lapack_library(lapack_openmp WITH_OPENMP)
    dropin_lapack_library(lapack64)
    dropin_lapack_library(lapack_asked WITH_WIDE_BLAS)
    dropin_lapack_test(lapack dropin_lapack lapack TAKT_RUN_EAGER=1)
    dropin_lapack_test(lapack.openmp dropin_lapack lapack_openmp
        TAKT_RUN_EAGER=1 openmp)
    dropin_lapack_test(lapack.usual dropin_lapack lapack "" usual)
    dropin_lapack_test(wide dropin_wide lapack64 TAKT_RUN_EAGER=last)
    dropin_lapack_test(wide.asked dropin_wide lapack_asked TAKT_RUN_EAGER=last)

    # Matrices that stay on a GPU: the fake one, at once and late.
    add_executable(dropin_reuse dropin/test_reuse.c
        ${PROJECT_SOURCE_DIR}/dropin/tracking.c)
    dropin_target(dropin_reuse)
    target_compile_options(dropin_reuse PRIVATE -O3) # it computes
    target_include_directories(dropin_reuse PRIVATE
        ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(dropin_reuse PRIVATE _GNU_SOURCE)
    target_link_libraries(dropin_reuse PRIVATE Threads::Threads)
    add_dependencies(dropin_reuse fakecuda takt_blas_preload)
    function(dropin_reuse_test name interposer)
        add_test(NAME dropin/reuse${name} COMMAND dropin_reuse ${interposer}
            $<TARGET_FILE:libbaseline_all>)
        set(environment "TAKT_DB=" "TAKT_CUBLAS=" "TAKT_GPU=all"
            "TAKT_CUDA=$<TARGET_FILE:fakecuda>" "TAKT_EXPERT=cuda.0"
            "TAKT_VULKAN=/nowhere/libvulkan.so.1" "TAKT_THREADS=2"
            "TAKT_RUN_EAGER=1")
        set_tests_properties(dropin/reuse${name} PROPERTIES TIMEOUT 600
            ENVIRONMENT "${environment};${ARGN}")
    endfunction()
    set(late)
    # Under the thread sanitizer it takes a minute, and late streams; by hand.
    if(NOT single_threaded)
        dropin_reuse_test("" $<TARGET_FILE:takt_blas_preload>
            TAKT_RUN_REUSE=1)
        if(CMAKE_BUILD_TYPE STREQUAL Release) # the same, without being told
            dropin_reuse_test(.default $<TARGET_FILE:takt_blas_preload>)
        endif()
        dropin_reuse_test(.forbidden $<TARGET_FILE:takt_blas_preload>
            TAKT_RUN_REUSE=0)
    endif()
    if(is_preloadable)
        dropin_reuse_test(.late preloaded FAKE_CUDA_LATE=1 TAKT_RUN_REUSE=1
            "LD_PRELOAD=$<TARGET_FILE:takt_blas_preload>")
    endif()

    # Programs, which are preloaded.
    function(dropin_program name source)
        add_executable(${name} dropin/${source})
        target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
        target_link_options(${name} PRIVATE LINKER:--no-as-needed)
        target_link_libraries(${name} PRIVATE ${ARGN} Threads::Threads)
        dropin_target(${name})
    endfunction()
    function(dropin_plugin name library)
        add_library(plugin_${name} MODULE dropin/plugin.c)
        target_compile_definitions(plugin_${name} PRIVATE ${ARGN})
        target_link_libraries(plugin_${name} PRIVATE ${library})
        set_target_properties(plugin_${name} PROPERTIES
            C_VISIBILITY_PRESET default)
        dropin_target(plugin_${name})
    endfunction()
    if(is_preloadable)
        find_package(OpenMP COMPONENTS C)
        dropin_program(dropin_program program.c libbaseline_all)
        if(OpenMP_C_FOUND)
            target_link_libraries(dropin_program PRIVATE OpenMP::OpenMP_C)
        endif()
        dropin_program(dropin_program_plt program.c libbaseline_plt)
        dropin_blas(one BASELINE_MARK=1)
        dropin_blas(two BASELINE_MARK=2)
        dropin_program(dropin_places places.c libbaseline_all)
        dropin_program(dropin_opening opening.c libbaseline_all)
        add_library(slow_takt MODULE dropin/slow_takt.c)
        target_include_directories(slow_takt PRIVATE
            ${PROJECT_SOURCE_DIR}/include)
        dropin_target(slow_takt)
        dropin_program(dropin_loader loader.c)
        dropin_program(dropin_loader_linked loader.c libbaseline_all)
        dropin_plugin(one libbaseline_one)
        dropin_plugin(two libbaseline_two)
        dropin_plugin(early libbaseline_one PLUGIN_EARLY)
        # It has BLAS inside, which it calls by name: so does PyTorch.
        dropin_plugin(whole m BASELINE_MARK=3 BASELINE_THROUGH_PLT)
        target_sources(plugin_whole PRIVATE dropin/baseline_blas.c
            $<TARGET_OBJECTS:baseline_parts>)
        foreach(script exports netlib numpy programs solver)
            takt_script(dropin/${script} ${Python3_EXECUTABLE}
                ${CMAKE_CURRENT_SOURCE_DIR}/dropin/test_${script}.py
                $<TARGET_FILE:takt_blas_preload> ${dropin})
            set_property(TEST dropin/${script} APPEND PROPERTY
                ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1"
                "TAKT_TEST_FAKE_CUDA=$<TARGET_FILE:fakecuda>"
                "TAKT_TEST_FAKE_CUBLAS=$<TARGET_FILE:fakecublas>"
                "TAKT_TEST_FAKE_CUSOLVER=$<TARGET_FILE:fakecusolver>")
            set_tests_properties(dropin/${script} PROPERTIES
                SKIP_RETURN_CODE 77)
        endforeach()
        # OpenBLAS's threads spin for each other: beside busy programs it
        # takes ten times as long.
        set_tests_properties(dropin/netlib PROPERTIES TIMEOUT 3000)
    endif()
endif()
