# What a release promises; tests/CMakeLists.txt includes this. Once, in the build
# that is like the release.
if(CMAKE_BUILD_TYPE STREQUAL Release AND NOT CMAKE_CROSSCOMPILING)
    set(release ${CMAKE_CURRENT_SOURCE_DIR}/release)
    takt_script(release/abi ${Python3_EXECUTABLE} ${release}/test_abi.py
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    set_tests_properties(release/abi PROPERTIES SKIP_RETURN_CODE 77)
    if(TAKT_BUILD_CLI)
        takt_script(release/packaging ${Python3_EXECUTABLE}
            ${release}/test_packaging.py ${PROJECT_SOURCE_DIR}
            ${PROJECT_BINARY_DIR} $<TARGET_FILE:takt_cli>)
        set_tests_properties(release/packaging PROPERTIES
            RESOURCE_LOCK installation) # it installs, too
    endif()
    if(TAKT_BUILD_CLI AND SQLite3_FOUND)
        takt_script(release/stores ${Python3_EXECUTABLE}
            ${release}/test_stores.py $<TARGET_FILE:takt_cli>
            ${CMAKE_CURRENT_SOURCE_DIR}/fixtures)
    endif()
endif()
