# SQLite as a part of the libraries, for files that have to run on systems that
# lack it or have an older one (packaging/make_portable.sh). Nothing of it is
# shown: a program may have another one.
add_library(takt_sqlite STATIC ${TAKT_SQLITE_SOURCE}/sqlite3.c)
target_compile_definitions(takt_sqlite PRIVATE SQLITE_THREADSAFE=1
    SQLITE_ENABLE_MATH_FUNCTIONS # the view `history` has exp()
    SQLITE_OMIT_LOAD_EXTENSION SQLITE_DQS=0)
target_compile_options(takt_sqlite PRIVATE -O2 -w)
target_include_directories(takt_sqlite SYSTEM INTERFACE ${TAKT_SQLITE_SOURCE})
add_library(SQLite::SQLite3 ALIAS takt_sqlite)
set(SQLite3_FOUND ON)
set(SQLite3_INCLUDE_DIRS ${TAKT_SQLITE_SOURCE})
