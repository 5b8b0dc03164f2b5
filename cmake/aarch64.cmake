# Builds for 64-bit ARM on another machine, and runs the tests in an emulator.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
# The emulator keeps a record of every page that is mapped: of the terabyte of
# addresses that buffers reserve (src/gpu/arena.c) these take it half a minute
# and gigabytes. Where there are fewer addresses, they reserve less.
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-aarch64 -R 16G -L /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
