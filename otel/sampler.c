/* SPDX-License-Identifier: MIT */
/* sampler.c - which traces are exported. */
#include "sampler.h"

#include <locale.h>
#include <stdlib.h>
#include <strings.h>

static const struct {
    const char *name;
    struct takt_otel_sampler sampler;
    bool takes_share;
} samplers[] = {
    {"always_on", {false, 1}, false},
    {"always_off", {false, 0}, false},
    {"traceidratio", {false, 1}, true},
    {"parentbased_always_on", {true, 1}, false},
    {"parentbased_always_off", {true, 0}, false},
    {"parentbased_traceidratio", {true, 1}, true},
};

bool takt__otel_sampler_read(const char *name, struct takt_otel_sampler *out,
                             bool *takes_share)
{
    *out = TAKT_OTEL_SAMPLER_USUAL;
    *takes_share = false;
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++) {
        if (strcasecmp(name, samplers[i].name) != 0)
            continue;
        *out = samplers[i].sampler;
        *takes_share = samplers[i].takes_share;
        return true;
    }
    return false;
}

bool takt__otel_share_read(const char *text, double *share)
{
    char *end;
    double value;

    *share = 1;
    /* The program's language may write numbers with a comma. */
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return false;
    const locale_t before = uselocale(plain);
    value = strtod(text, &end);
    uselocale(before);
    freelocale(plain);
    if (end == text || *end != '\0' || !(value >= 0 && value <= 1))
        return false;
    *share = value;
    return true;
}

bool takt__otel_sampled(const struct takt_otel_sampler *sampler,
                        const takt_span_context *parent,
                        const unsigned char trace_id[16])
{
    uint64_t drawn = 0;

    if (sampler->asks_parent && parent != NULL)
        return (parent->flags & 1) != 0;
    if (sampler->share >= 1)
        return true;
    for (int i = 8; i < 16; i++)
        drawn = drawn << 8 | trace_id[i];
    return drawn >> 1 < (uint64_t)(sampler->share * 0x1p63);
}
