# What an installation has besides the libraries and the tool: the packages for
# CMake and pkg-config, the documents, and the examples as sources.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/takt)
install(EXPORT takt NAMESPACE takt:: DESTINATION ${package_dir}
        FILE taktTargets.cmake)
configure_package_config_file(cmake/taktConfig.cmake.in taktConfig.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(taktConfigVersion.cmake
    COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/taktConfig.cmake
              ${PROJECT_BINARY_DIR}/taktConfigVersion.cmake
        DESTINATION ${package_dir})

# The prefix is only known when it is installed, and may be moved afterwards: the
# files find it from where they are. Absolute folders stay where they are.
set(takt_pc_prefix ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" up ${up})
    set(takt_pc_prefix "\${pcfiledir}/${up}")
endif()
foreach(kind LIB INCLUDE)
    string(TOLOWER takt_pc_${kind}dir variable)
    set(${variable} "\${prefix}/${CMAKE_INSTALL_${kind}DIR}")
    if(IS_ABSOLUTE ${CMAKE_INSTALL_${kind}DIR})
        set(${variable} ${CMAKE_INSTALL_${kind}DIR})
    endif()
endforeach()
set(pkgconfig takt)
if(NOT TAKT_SQLITE_SOURCE) # else there is no libtakt.a
    list(APPEND pkgconfig takt-static)
endif()
foreach(package ${pkgconfig})
    configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${package}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

install(FILES README.md CHANGELOG.md LICENSE SECURITY.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.[ch]" PATTERN Makefile)
