/* SPDX-License-Identifier: MIT */
/* address.c - endpoints, read by the same code that is to connect to them. */
#define _GNU_SOURCE /* asprintf() */
#include "address.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const grpc_path[] = {
    [TAKT_OTEL_TRACES] =
        "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    [TAKT_OTEL_METRICS] =
        "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
};
static const char *const http_path[] = {
    [TAKT_OTEL_TRACES] = "v1/traces",
    [TAKT_OTEL_METRICS] = "v1/metrics",
};

/* Our own copy of a part; NULL: it has none. */
static char *part(CURLU *parsed, CURLUPart which)
{
    char *text = NULL, *copy = NULL;

    if (curl_url_get(parsed, which, &text, 0) == CURLUE_OK)
        copy = strdup(text);
    curl_free(text);
    return copy;
}

static bool parse(CURLU *parsed, const char *endpoint,
                  const struct takt_otel_reading *how)
{
    if (strstr(endpoint, "://") != NULL)
        return curl_url_set(parsed, CURLUPART_URL, endpoint, 0) == CURLUE_OK;
    if (!how->is_grpc)
        return false;
    char *whole;
    if (asprintf(&whole, "http%s://%s", how->is_insecure ? "" : "s", endpoint) <
        0)
        return false;
    const CURLUcode code = curl_url_set(parsed, CURLUPART_URL, whole, 0);
    free(whole);
    return code == CURLUE_OK;
}

static bool append_path(CURLU *parsed, const char *more)
{
    char *path = part(parsed, CURLUPART_PATH), *whole = NULL;

    if (path == NULL)
        return false;
    const size_t length = strlen(path);
    const bool ends = length > 0 && path[length - 1] == '/';
    const bool is_set =
        asprintf(&whole, "%s%s%s", path, ends ? "" : "/", more) >= 0 &&
        curl_url_set(parsed, CURLUPART_PATH, whole, 0) == CURLUE_OK;
    free(whole);
    free(path);
    return is_set;
}

static bool set_path(CURLU *parsed, const struct takt_otel_reading *how)
{
    if (how->is_grpc) {
        curl_url_set(parsed, CURLUPART_QUERY, NULL, 0);
        return curl_url_set(parsed, CURLUPART_PATH, grpc_path[how->signal],
                            0) == CURLUE_OK;
    }
    return !how->is_base || append_path(parsed, http_path[how->signal]);
}

/* For people: without user, password and query. */
static char *show(CURLU *parsed, const struct takt_otel_reading *how)
{
    curl_url_set(parsed, CURLUPART_USER, NULL, 0);
    curl_url_set(parsed, CURLUPART_PASSWORD, NULL, 0);
    curl_url_set(parsed, CURLUPART_QUERY, NULL, 0);
    if (how->is_grpc)
        curl_url_set(parsed, CURLUPART_PATH, NULL, 0);
    char *shown = part(parsed, CURLUPART_URL);
    const size_t length = shown != NULL ? strlen(shown) : 0;
    if (how->is_grpc && length > 0 && shown[length - 1] == '/')
        shown[length - 1] = '\0';
    return shown;
}

static bool read_parsed(CURLU *parsed, const struct takt_otel_reading *how,
                        struct takt_otel_address *out)
{
    char *scheme = part(parsed, CURLUPART_SCHEME);

    out->is_tls = scheme != NULL && strcmp(scheme, "https") == 0;
    const bool is_http =
        scheme != NULL && (out->is_tls || strcmp(scheme, "http") == 0);
    free(scheme);
    curl_url_set(parsed, CURLUPART_FRAGMENT, NULL, 0);
    if (!is_http || !set_path(parsed, how))
        return false;
    out->url = part(parsed, CURLUPART_URL);
    out->shown = show(parsed, how);
    return out->url != NULL && out->shown != NULL;
}

bool takt__otel_address_read(const char *endpoint,
                             const struct takt_otel_reading *how,
                             struct takt_otel_address *out)
{
    CURLU *parsed = curl_url();

    *out = (struct takt_otel_address){0};
    const bool is_read = parsed != NULL && parse(parsed, endpoint, how) &&
                         read_parsed(parsed, how, out);
    curl_url_cleanup(parsed);
    if (!is_read) {
        free(out->url);
        free(out->shown);
        *out = (struct takt_otel_address){0};
    }
    return is_read;
}
