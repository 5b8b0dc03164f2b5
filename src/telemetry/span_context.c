/* SPDX-License-Identifier: MIT */
/* span_context.c - the trace that a thread's calls belong to. */
#include <string.h>

#include "telemetry/tap.h"

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; /* upper case is wrong */
}

/* So many bytes in hex; false: they are not. */
static bool read_hex(const char *text, unsigned char *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const int high = digit_of(text[2 * i]);
        const int low = high < 0 ? -1 : digit_of(text[2 * i + 1]);
        if (low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static bool is_zero(const unsigned char *bytes, size_t count)
{
    unsigned char all = 0;

    for (size_t i = 0; i < count; i++)
        all |= bytes[i];
    return all == 0;
}

/* A later version may have more after the flags, behind a dash. */
static bool read(const char *text, takt_span_context *out)
{
    enum { length = 55 }; /* of version 00 */
    unsigned char version;

    return strnlen(text, length) == length && read_hex(text, &version, 1) &&
           version != 0xff && text[2] == '-' &&
           read_hex(text + 3, out->trace_id, sizeof out->trace_id) &&
           text[35] == '-' &&
           read_hex(text + 36, out->span_id, sizeof out->span_id) &&
           text[52] == '-' && read_hex(text + 53, &out->flags, 1) &&
           (text[length] == '\0' || (version > 0 && text[length] == '-')) &&
           !is_zero(out->trace_id, sizeof out->trace_id) &&
           !is_zero(out->span_id, sizeof out->span_id);
}

takt_status takt_span_context_parse(const char *traceparent,
                                    takt_span_context *out)
{
    if (out == NULL)
        return TAKT_EINVAL;
    memset(out, 0, sizeof *out);
    if (traceparent != NULL && read(traceparent, out))
        return TAKT_OK;
    memset(out, 0, sizeof *out);
    return TAKT_EINVAL;
}

void takt_trace_parent(const takt_span_context *parent)
{
    if (parent != NULL)
        takt__tap_thread.parent = *parent;
    else
        memset(&takt__tap_thread.parent, 0, sizeof takt__tap_thread.parent);
}

const char *takt_residency_name(takt_residency residency)
{
    static const char *const name[] = {"host", "gpu", "mixed"};
    return (unsigned)residency <= TAKT_RESIDENCY_MIXED ? name[residency] : "?";
}
