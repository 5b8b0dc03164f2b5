/* SPDX-License-Identifier: MIT */
/*
 * comma.h - a locale whose numbers have a comma. It is made for the test, as
 * few machines have one.
 */
#pragma once

#include <locale.h>
#include <stdlib.h>

#include "support/tap.h"

/* False: there is no localedef, or nothing that it makes locales of. */
static inline bool comma_begin(void)
{
    static const char make[] =
        "cd \"$LOCPATH\" && "
        "printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\n"
        "grouping -1\\nEND LC_NUMERIC\\n' > source && "
        "localedef -c -i ./source -f ANSI_X3.4-1968 ./comma";
    char folder[] = "/tmp/takt-comma-XXXXXX";
    int status;

    REQUIRE(mkdtemp(folder) != NULL);
    setenv("LOCPATH", folder, 1);
    status = system(make);
    const bool is_set = status >= 0 && setlocale(LC_NUMERIC, "comma") != NULL;
    status = system("rm -r \"$LOCPATH\"");
    REQUIRE(status == 0);
    unsetenv("LOCPATH");
    if (is_set)
        EXPECT(strtod("1.5", NULL) == 1);
    return is_set;
}

static inline void comma_end(void)
{
    setlocale(LC_NUMERIC, "C");
}
