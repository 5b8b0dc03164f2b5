/* SPDX-License-Identifier: MIT */
/* test_outcome.c - what the answers of a collector mean, by gRPC and HTTP. */
#include "../../otel/outcome.h"
#include "../../otel/transport.h"
#include "support/tap.h"

#include <zlib.h>

static struct takt_otel_outcome grpc_answer(int status, long http_status,
                                            double retry_after_s)
{
    const struct takt_otel_grpc grpc = {.status = status,
                                        .retry_after_s = retry_after_s};
    struct takt_otel_outcome outcome;

    takt__otel_grpc_outcome(&grpc, http_status, NULL, 0, &outcome);
    return outcome;
}

static void some_grpc_statuses_pass(void)
{
    static const bool passes[] = {
        [1] = true,  [4] = true,  [10] = true, [11] = true,
        [14] = true, [15] = true, [17] = false};

    EXPECT_INT(grpc_answer(0, 200, -1).result, TAKT_OTEL_DELIVERED);
    for (int i = 1; i <= 17; i++)
        EXPECT_INT(grpc_answer(i, 200, -1).result,
                   passes[i] ? TAKT_OTEL_PUT_OFF : TAKT_OTEL_REFUSED);
    EXPECT_INT(grpc_answer(8, 200, 0.5).result, TAKT_OTEL_PUT_OFF);
    EXPECT_NEAR(grpc_answer(8, 200, 0.5).asked_s, 0.5, 0);
    EXPECT_NEAR(grpc_answer(14, 200, 2).asked_s, 2, 0);
    EXPECT_INT(grpc_answer(3, 200, 2).result, TAKT_OTEL_REFUSED);
}

static void an_answer_of_something_else_is_not_success(void)
{
    EXPECT_INT(grpc_answer(-1, 200, -1).result, TAKT_OTEL_REFUSED);
    EXPECT_INT(grpc_answer(-1, 503, -1).result, TAKT_OTEL_PUT_OFF);
    EXPECT_INT(grpc_answer(-1, 429, -1).result, TAKT_OTEL_PUT_OFF);
    EXPECT_INT(grpc_answer(-1, 404, -1).result, TAKT_OTEL_REFUSED);
    EXPECT_INT(grpc_answer(0, 500, -1).result, TAKT_OTEL_REFUSED);
    EXPECT_STR(grpc_answer(-1, 404, -1).problem, "HTTP status 404");
}

static void take(struct takt_otel_grpc *grpc, const char *name,
                 const char *value)
{
    takt__otel_grpc_header(grpc, name, strlen(name), value, strlen(value));
}

static void grpc_trailers_are_read(void)
{
    struct takt_otel_grpc grpc = TAKT_OTEL_GRPC_SILENT;

    take(&grpc, "Grpc-Status", "14");
    take(&grpc, "grpc-message", "too%20much: 100%25");
    take(&grpc, "x-other", "1");
    /* status{8, details{RetryInfo{1.5 s}}}, as base64 without its end */
    take(&grpc, "grpc-status-details-bin",
         "CAgaNQooZ29vZ2xlLnJwYy5SZXRyeUluZm8SCQoHCAEQgMq17gE");
    EXPECT_INT(grpc.status, 14);
    EXPECT_STR(grpc.message, "too much: 100%");
    take(&grpc, "grpc-message", "100% broken");
    EXPECT_STR(grpc.message, "100% broken");
    take(&grpc, "grpc-status", "x");
    EXPECT_INT(grpc.status, 2);
    take(&grpc, "grpc-status", "");
    EXPECT_INT(grpc.status, 2);
}

static enum takt_otel_result grpc_body(int status, const void *body,
                                       size_t size)
{
    const struct takt_otel_grpc grpc = {
        .status = status, .retry_after_s = -1, .is_typed = true};
    struct takt_otel_outcome outcome;

    takt__otel_grpc_outcome(&grpc, 200, body, size, &outcome);
    return outcome.result;
}

static void a_message_that_is_not_whole_is_not_success(void)
{
    EXPECT_INT(grpc_body(0, "", 0), TAKT_OTEL_DELIVERED);
    EXPECT_INT(grpc_body(0, "\0\0\0\0\0", 5), TAKT_OTEL_DELIVERED);
    EXPECT_INT(grpc_body(0, "\0\0\0\0\2\x0a\0", 7), TAKT_OTEL_DELIVERED);
    EXPECT_INT(grpc_body(0, "\0\0\0", 3), TAKT_OTEL_REFUSED);
    EXPECT_INT(grpc_body(0, "\0\0\0\0\7\x0a\0", 7), TAKT_OTEL_REFUSED);
    EXPECT_INT(grpc_body(0, "\0\xff\xff\xff\xff\x0a\0", 7), TAKT_OTEL_REFUSED);
    EXPECT_INT(grpc_body(0, "\1\0\0\0\2\x0a\0", 7), TAKT_OTEL_REFUSED);
}

/* Whether a whole message came tells it then. */
static void a_status_that_was_lost_is_made_out(void)
{
    EXPECT_INT(grpc_body(-1, "\0\0\0\0\0", 5), TAKT_OTEL_DELIVERED);
    EXPECT_INT(grpc_body(-1, "\0\0\0\0\7\x0a\0", 7), TAKT_OTEL_REFUSED);
    EXPECT_INT(grpc_body(-1, "", 0), TAKT_OTEL_PUT_OFF);
}

static enum takt_otel_result http_answer(long status, const char *type,
                                         const char *body)
{
    struct takt_otel_outcome outcome;

    takt__otel_http_outcome(status, type, 7, (const unsigned char *)body,
                            strlen(body), &outcome);
    if (outcome.result == TAKT_OTEL_PUT_OFF)
        EXPECT_NEAR(outcome.asked_s, 7, 0);
    return outcome.result;
}

static void some_http_statuses_pass(void)
{
    static const long passing[] = {429, 502, 503, 504};
    static const long final[] = {302, 400, 401, 404, 413, 500, 501, 505};

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        EXPECT_INT(http_answer(passing[i], "", ""), TAKT_OTEL_PUT_OFF);
    for (size_t i = 0; i < sizeof final / sizeof *final; i++)
        EXPECT_INT(http_answer(final[i], "", ""), TAKT_OTEL_REFUSED);
    EXPECT_INT(http_answer(200, "", ""), TAKT_OTEL_DELIVERED);
    EXPECT_INT(http_answer(200, "application/json", "{}"), TAKT_OTEL_DELIVERED);
    EXPECT_INT(http_answer(200, "text/html", "<html>"), TAKT_OTEL_REFUSED);
    EXPECT_INT(http_answer(200, "", "<html>"), TAKT_OTEL_REFUSED);
}

static void a_prefix_says_how_long_a_message_is(void)
{
    unsigned char prefix[TAKT_OTEL_GRPC_PREFIX];

    takt__otel_grpc_prefix(prefix, true, 0x01020304);
    EXPECT(memcmp(prefix, "\1\1\2\3\4", sizeof prefix) == 0);
}

static void what_is_compressed_can_be_read_again(void)
{
    static unsigned char text[100000], back[sizeof text + 1];
    struct takt_otel_bytes bytes = {0};
    z_stream stream = {0};

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)(i * i >> 7);
    takt__otel_bytes_append(&bytes, "12345", 5);
    REQUIRE(takt__otel_gzip(text, sizeof text, &bytes));
    EXPECT(memcmp(bytes.at, "12345", 5) == 0);
    REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
    stream.next_in = bytes.at + 5;
    stream.avail_in = (uInt)(bytes.size - 5);
    stream.next_out = back;
    stream.avail_out = sizeof back;
    EXPECT_INT(inflate(&stream, Z_FINISH), Z_STREAM_END);
    EXPECT_INT(stream.total_out, sizeof text);
    EXPECT(memcmp(text, back, sizeof text) == 0);
    inflateEnd(&stream);
    takt__otel_bytes_free(&bytes);
}

int main(void)
{
    RUN(some_grpc_statuses_pass);
    RUN(an_answer_of_something_else_is_not_success);
    RUN(grpc_trailers_are_read);
    RUN(a_message_that_is_not_whole_is_not_success);
    RUN(a_status_that_was_lost_is_made_out);
    RUN(some_http_statuses_pass);
    RUN(a_prefix_says_how_long_a_message_is);
    RUN(what_is_compressed_can_be_read_again);
    return tap_done();
}
