/* SPDX-License-Identifier: MIT */
/*
 * test_answer.c - what collectors answer, and what pretends to be an answer.
 */
#include "support/tap.h"

#include "../../otel/encode.h"

#define BYTES(text) (const unsigned char *)(text), sizeof(text) - 1

static void partial_success_is_understood(void)
{
    static const struct {
        const unsigned char *at;
        size_t size;
        bool is_one;
        int64_t rejected;
        const char *message;
    } rows[] = {
        {BYTES(""), true, 0, ""},
        {BYTES("\x0A\x00"), true, 0, ""},
        {BYTES("\x0A\x07\x08\x05\x12\x03why"), true, 5, "why"},
        {BYTES("\x0A\x02\x08\x05\x0A\x05\x12\x03why"), true, 5, "why"},
        {BYTES("\x0A\x05\x12\x03\x61\n\xFF"), true, 0, "a \xEF\xBF\xBD"},
        {BYTES("\x0A\x03\x08\xAC\x02"), true, 300, ""},
        /* less than none */
        {BYTES("\x0A\x0B\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), true, 0,
         ""},
        /* fields of a later version, of each type */
        {BYTES("\x10\x01\x19"
               "12345678"
               "\x22\x01x\x2D"
               "1234\x0A\x02\x08\x01"),
         true, 1, ""},
        /* of another type than expected */
        {BYTES("\x08\x05"), true, 0, ""},
        {BYTES("\x0A\x03\x0A\x01x"), true, 0, ""},
        /* cut off */
        {BYTES("\x0A"), false, 0, ""},
        {BYTES("\x0A\x01"), false, 0, ""},
        {BYTES("\x0A\x02\x08\x80"), false, 0, ""},
        {BYTES("\x0A\x04\x12\x05why"), false, 0, ""},
        {BYTES("\x19"
               "1234567"),
         false, 0, ""},
        {BYTES("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), false, 0, ""},
        /* groups, types there are not, no number, numbers too long */
        {BYTES("\x13\x14"), false, 0, ""},
        {BYTES("\x0A\x02\x13\x14"), false, 0, ""},
        {BYTES("\x16"), false, 0, ""},
        {BYTES("\x02\x00"), false, 0, ""},
        {BYTES("\x10\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"), false, 0, ""},
        {BYTES("\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), false, 0,
         ""},
        {BYTES("\x8A\x80\x80\x80\x80\x01\x00"), false, 0, ""},
        {BYTES("<html>"), false, 0, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct takt_otel_answer answer;
        TAP_CHECK(takt__otel_answer(rows[i].at, rows[i].size, &answer) ==
                      rows[i].is_one,
                  "row %zu", i);
        EXPECT_INT(answer.rejected, rows[i].rejected);
        EXPECT_STR(answer.message, rows[i].message);
    }
}

static void a_long_message_is_cut_between_characters(void)
{
    unsigned char bytes[400] = {0x0A, 0x83, 0x03, 0x12, 0x80, 0x03};
    struct takt_otel_answer answer;

    for (size_t i = 6; i < 390; i += 3)
        memcpy(bytes + i, "\xE2\x82\xAC", 3);
    bytes[6] = 'x'; /* leaves two that are nothing: U+FFFD twice */
    EXPECT(takt__otel_answer(bytes, 390, &answer));
    EXPECT_INT(strlen(answer.message), 253);
    EXPECT_INT(strncmp(answer.message, "x\xEF\xBF\xBD\xEF\xBF\xBD\xE2", 8), 0);
}

static void the_delay_that_a_collector_wants_is_understood(void)
{
#define RETRY "type.googleapis.com/google.rpc.RetryInfo"
    static const struct {
        const unsigned char *at;
        size_t size;
        double seconds;
    } rows[] = {
        {BYTES(""), -1},
        {BYTES("\x08\x08\x12\x04"
               "busy"),
         -1},
        {BYTES("\x08\x0E\x1A\x30\x0A\x28" RETRY "\x12\x04\x0A\x02\x08\x07"), 7},
        {BYTES("\x1A\x36\x0A\x28" RETRY
               "\x12\x0A\x0A\x08\x08\x01\x10\x80\xCA\xB5\xEE\x01"),
         1.5},
        /* a delay of nothing, and none at all */
        {BYTES("\x1A\x2E\x0A\x28" RETRY "\x12\x02\x0A\x00"), 0},
        {BYTES("\x1A\x2C\x0A\x28" RETRY "\x12\x00"), -1},
        /* of another type, which may hold anything */
        {BYTES("\x1A\x0A\x0A\x03x/y\x12\x03\xFF\xFF\xFF"), -1},
        {BYTES("\x1A\x0A\x0A\x03x/y\x12\x03\xFF\xFF\xFF\x1A\x30\x0A\x28" RETRY
               "\x12\x04\x0A\x02\x08\x07"),
         7},
        /* below zero, a second of too many nanoseconds */
        {BYTES("\x1A\x39\x0A\x28" RETRY "\x12\x0D\x0A\x0B\x08\xFF\xFF\xFF\xFF"
               "\xFF\xFF\xFF\xFF\xFF\x01"),
         -1},
        {BYTES("\x1A\x34\x0A\x28" RETRY
               "\x12\x08\x0A\x06\x10\x80\x94\xEB\xDC\x03"),
         -1},
        /* cut off */
        {BYTES("\x1A\x30\x0A\x28" RETRY "\x12\x04\x0A\x02\x08"), -1},
        {BYTES("\x1A\x2F\x0A\x28" RETRY "\x12\x03\x0A\x02\x08"), -1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("# row %zu\n", i);
        EXPECT_NEAR(takt__otel_retry_delay_s(rows[i].at, rows[i].size),
                    rows[i].seconds, 1e-12);
    }
}

int main(void)
{
    RUN(partial_success_is_understood);
    RUN(a_long_message_is_cut_between_characters);
    RUN(the_delay_that_a_collector_wants_is_understood);
    return tap_done();
}
