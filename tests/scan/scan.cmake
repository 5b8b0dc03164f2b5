# The scanner's tests; tests/CMakeLists.txt includes this.
if(NOT TAKT_HAS_SCAN)
    return()
endif()

function(takt_scan_test test)
    takt_test(scan/${test} ${ARGN})
    if(TARGET scan_${test})
        target_include_directories(scan_${test} PRIVATE scan)
        target_link_libraries(scan_${test} PRIVATE takt_scan)
    endif()
endfunction()

takt_scan_test(test_ignore)
takt_scan_test(test_text)
takt_scan_test(test_find)
takt_scan_test(test_walk)
takt_scan_test(test_scan)
if(TEST scan/test_scan) # sanitizers take their time
    set_tests_properties(scan/test_scan PROPERTIES TIMEOUT 900)
endif()
takt_scan_test(test_judge)
takt_scan_test(test_examples scan/examples.c)
takt_scan_test(test_corpus scan/corpus.c)

# For those who write patterns.
add_executable(scan_tool scan/scan_tool.c scan/corpus.c scan/examples.c)
target_include_directories(scan_tool PRIVATE scan)
target_link_libraries(scan_tool PRIVATE takt_flags takt_scan)
