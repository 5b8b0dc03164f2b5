/* SPDX-License-Identifier: MIT */
/*
 * project.h - what the files of a project declare for each other.
 *
 * Before files are examined, those that others refer to are outlined: types,
 * macros, constants and functions go into a table by their names, as text, and
 * what a file includes is remembered. A file is then parsed with the
 * declarations behind it that it names and does not have itself, as a compiler
 * would see them, but only these. So whatever reads names, types and constants
 * of a file reads those of the project.
 *
 * The table is filled by one thread in the order of paths, then only read: what
 * is found does not depend on the number of threads.
 */
#pragma once

#include "language.h"

struct takt_project;

struct takt_project *takt__project_open(void);
void takt__project_close(struct takt_project *project);

/* Adds a file of a language that has an outline. What does not fit into memory
 * is left out. */
void takt__project_add(struct takt_project *project,
                       const struct takt_language *language, const char *path,
                       const char *text, size_t size);
/* After the last file: which file is meant by each link. */
void takt__project_finish(struct takt_project *project);

/* ---- for outlines -------------------------------------------------------- */

/* A declaration, which is copied, and then each name that it declares. */
void takt__project_declare(struct takt_project *project, struct takt_text text);
void takt__project_name(struct takt_project *project, struct takt_text name);

/* ---- for files that are parsed ------------------------------------------- */

/* Writes the declarations that a text needs, at most `room` bytes; how many
 * bytes. */
size_t takt__project_declarations(const struct takt_project *project,
                                  const struct takt_language *language,
                                  const char *path, const char *text,
                                  size_t size, char *out, size_t room);
