# The tests of dropin/; tests/CMakeLists.txt includes this.
takt_test(dropin/test_triangular ${PROJECT_SOURCE_DIR}/dropin/triangular.c)
if(TARGET dropin_test_triangular)
    target_include_directories(dropin_test_triangular PRIVATE
        dropin ${PROJECT_SOURCE_DIR}/dropin)
endif()
