# The manual: man pages of the library and the tutorial, and all of it as HTML,
# from the headers, the documents and the man pages of the tool. Installed, where
# there is a Python to make it.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT TARGET takt_pages)
    message(STATUS "the manual is left out: the tool's pages are not made here")
    return()
elseif(NOT Python3_Interpreter_FOUND)
    message(STATUS "the manual is left out: there is no python3")
    return()
endif()
file(GLOB_RECURSE manual_sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/*.svg
    ${PROJECT_SOURCE_DIR}/examples/*.[ch] ${PROJECT_SOURCE_DIR}/examples/*.py
    ${PROJECT_SOURCE_DIR}/include/*.h ${PROJECT_SOURCE_DIR}/tools/manual/*.py
    ${PROJECT_SOURCE_DIR}/web/*.css ${PROJECT_SOURCE_DIR}/web/*.js)
file(GLOB manual_documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md
    ${PROJECT_SOURCE_DIR}/bench/*.md)
set(manual ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/made
    COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
        ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/make_manual.py
        ${PROJECT_BINARY_DIR}/cli ${manual}
    DEPENDS ${manual_sources} ${manual_documents} takt_pages
        ${PROJECT_SOURCE_DIR}/tools/make_manual.py
    COMMENT "Making the manual" VERBATIM)
add_custom_target(takt_manual ALL DEPENDS ${manual}/made)
install(DIRECTORY ${manual}/man3 ${manual}/man7
        DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${manual}/html DESTINATION ${CMAKE_INSTALL_DOCDIR})
