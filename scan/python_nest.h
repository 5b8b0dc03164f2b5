/* SPDX-License-Identifier: MIT */
/*
 * python_nest.h - loops in loops, with one statement inside.
 */
#ifndef TAKT_SCAN_PYTHON_NEST_H
#define TAKT_SCAN_PYTHON_NEST_H

#include "python.h"

struct takt_python_nest {
    struct takt_python_loops loops;
    TSNode first, work; /* the outermost loop; the only statement inside */
    TSNode store;    /* c[i][j] = acc or c.append(acc), after an inner loop */
    unsigned around; /* how many variables of loops are around the store */
};

/* false: it is nothing of the kind. */
bool takt__python_read_nest(const struct takt_source *source, TSNode loop,
                            struct takt_python_nest *nest);

/* The expression of a statement that is one; else the statement. */
TSNode takt__python_content(TSNode statement);
/* The argument of c.append(x); null: it is something else. */
TSNode takt__python_appended(const struct takt_source *source, TSNode node);
/* name = ... */
bool takt__python_assigns_name(TSNode node);

/* The bounds of these loops, in this order, as sizes. */
void takt__python_set_sizes(const struct takt_source *source,
                            const struct takt_python_nest *nest,
                            const unsigned *order, unsigned count,
                            struct takt_found_size *out);
/* All loops together. */
void takt__python_set_elements(const struct takt_source *source,
                               const struct takt_python_nest *nest,
                               struct takt_found_size *out);

#endif
