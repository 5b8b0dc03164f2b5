/* SPDX-License-Identifier: MIT */
/* prior.c - rows in memory and in a file. */
#include "fleet/prior.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static const char first_line[] = "takt-prior 1\n";

enum { first_length = sizeof first_line - 1, number_bytes = 8, lengths = 8 };

bool takt__fleet_priors_add(struct takt_fleet_priors *priors, const char *class,
                            const char *line, const void *bytes, size_t length)
{
    if (strlen(class) >= TAKT_FLEET_CLASS || strlen(line) >= TAKT_FLEET_LINE ||
        length > TAKT_FLEET_MOST_BYTES ||
        !takt__grow(&priors->prior, &priors->room, priors->count + 1,
                    sizeof *priors->prior))
        return false;
    struct takt_fleet_prior *prior = &priors->prior[priors->count];
    *prior = (struct takt_fleet_prior){.length = length};
    prior->bytes = malloc(length + 1);
    if (prior->bytes == NULL)
        return false;
    strcpy(prior->class, class);
    strcpy(prior->line, line);
    memcpy(prior->bytes, bytes, length);
    priors->count++;
    priors->bytes += length;
    return true;
}

void takt__fleet_priors_free(struct takt_fleet_priors *priors)
{
    for (size_t i = 0; i < priors->count; i++)
        free(priors->prior[i].bytes);
    free(priors->prior);
    *priors = (struct takt_fleet_priors){0};
}

/* ---- out ----------------------------------------------------------------- */

static void put_number(unsigned char **to, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *(*to)++ = (unsigned char)(number >> 8 * i);
}

static void put_bytes(unsigned char **to, const void *from, size_t length)
{
    memcpy(*to, from, length);
    *to += length;
}

unsigned char *takt__fleet_priors_print(const struct takt_fleet_priors *priors,
                                        size_t *length)
{
    *length = first_length + number_bytes;
    for (size_t i = 0; i < priors->count; i++)
        *length += lengths + strlen(priors->prior[i].class) +
                   strlen(priors->prior[i].line) + priors->prior[i].length;
    unsigned char *bytes = malloc(*length), *to = bytes;
    if (bytes == NULL)
        return NULL;
    put_bytes(&to, first_line, first_length);
    put_number(&to, priors->generation, number_bytes);
    for (size_t i = 0; i < priors->count; i++) {
        const struct takt_fleet_prior *prior = &priors->prior[i];
        put_number(&to, strlen(prior->class), 2);
        put_number(&to, strlen(prior->line), 2);
        put_number(&to, prior->length, 4);
        put_bytes(&to, prior->class, strlen(prior->class));
        put_bytes(&to, prior->line, strlen(prior->line));
        put_bytes(&to, prior->bytes, prior->length);
    }
    return bytes;
}

/* ---- in ------------------------------------------------------------------ */

struct input {
    const unsigned char *at;
    size_t left;
};

static bool take_number(struct input *in, int bytes, uint64_t *out)
{
    if (in->left < (size_t)bytes)
        return false;
    *out = 0;
    for (int i = 0; i < bytes; i++)
        *out |= (uint64_t)in->at[i] << 8 * i;
    in->at += bytes;
    in->left -= (size_t)bytes;
    return true;
}

/* Printable characters without blanks. */
static bool take_text(struct input *in, uint64_t length, char *out, size_t size)
{
    if (length >= size || length > in->left)
        return false;
    for (size_t i = 0; i < length; i++)
        if (in->at[i] <= ' ' || in->at[i] > '~')
            return false;
    memcpy(out, in->at, length);
    out[length] = '\0';
    in->at += length;
    in->left -= length;
    return true;
}

static takt_status take_row(struct input *in, struct takt_fleet_priors *out)
{
    char class[TAKT_FLEET_CLASS], line[TAKT_FLEET_LINE];
    uint64_t class_length, line_length, length;

    if (!take_number(in, 2, &class_length) ||
        !take_number(in, 2, &line_length) || !take_number(in, 4, &length) ||
        !take_text(in, class_length, class, sizeof class) ||
        !take_text(in, line_length, line, sizeof line) || length > in->left ||
        length > TAKT_FLEET_MOST_BYTES)
        return TAKT_ECORRUPT;
    if (!takt__fleet_priors_add(out, class, line, in->at, length))
        return TAKT_ENOMEM;
    in->at += length;
    in->left -= length;
    return TAKT_OK;
}

takt_status takt__fleet_priors_parse(const unsigned char *bytes, size_t length,
                                     struct takt_fleet_priors *out)
{
    struct input in = {bytes, length};
    takt_status status = TAKT_OK;

    *out = (struct takt_fleet_priors){0};
    if (length < first_length || memcmp(bytes, first_line, first_length) != 0)
        return TAKT_ECORRUPT;
    in.at += first_length;
    in.left -= first_length;
    if (!take_number(&in, number_bytes, &out->generation))
        status = TAKT_ECORRUPT;
    while (status == TAKT_OK && in.left > 0)
        status = take_row(&in, out);
    if (status != TAKT_OK)
        takt__fleet_priors_free(out);
    return status;
}
