# The tests of python/; tests/CMakeLists.txt includes this. They run in the
# system's interpreter if that can: it is the one that sees Debian's NumPy.
if(TARGET takt_python)
    set(python ${Python3_EXECUTABLE})
    execute_process(COMMAND /usr/bin/python3 -c
        "import sys; sys.exit(sys.version_info < (3, 11))"
        RESULT_VARIABLE is_unfit ERROR_QUIET)
    if(is_unfit EQUAL 0)
        set(python /usr/bin/python3)
    endif()
    foreach(test ops contexts numpy process wheel)
        set(arguments)
        if(test STREQUAL contexts)
            set(arguments ${CMAKE_CURRENT_SOURCE_DIR}/fixtures)
        elseif(test STREQUAL wheel)
            set(arguments ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
        endif()
        takt_script(python/${test} ${python}
            ${CMAKE_CURRENT_SOURCE_DIR}/python/test_${test}.py ${arguments})
        set_property(TEST python/${test} APPEND PROPERTY ENVIRONMENT
            "PYTHONPATH=${PROJECT_BINARY_DIR}/python" "TAKT_GPU="
            "PYTHONDONTWRITEBYTECODE=1")
        set_tests_properties(python/${test} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
endif()
