/* SPDX-License-Identifier: MIT */
/*
 * open_files.h - reading files that this process may have open already.
 *
 * What is closed drops all locks of the process on that file, those of SQLite
 * too, by whichever name and descriptor it was opened. So a file that is open
 * is read through the descriptor that there is.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

/* What is done with an open file; false: no more of them. */
typedef bool takt_open_file_visit(void *self, int fd, const struct stat *facts);

/* All that this process has open. */
void takt__open_files_visit(takt_open_file_visit *visit, void *self);

/* A file that is read: by pread() alone, as its position may be somebody's. */
struct takt_borrowed {
    int fd; /* -1: there is none that can be read; errno says why */
    bool is_own;
};

/* Opens a file to read it, or takes a descriptor of it that there is. */
struct takt_borrowed takt__borrow(int folder, const char *name);
void takt__give_back(struct takt_borrowed file);
