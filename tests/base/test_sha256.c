/* SPDX-License-Identifier: MIT */
/* test_sha256.c - SHA-256 against the vectors of FIPS 180-4 and against the
 * ways a message can be cut into pieces. */
#include "base/sha256.h"

#include "support/tap.h"

static void an_empty_message_has_the_published_digest(void)
{
    char hex[TAKT_SHA256_HEX];

    takt__sha256_hex("", 0, hex);
    EXPECT_STR(hex, "e3b0c44298fc1c149afbf4c8996fb924"
                    "27ae41e4649b934ca495991b7852b855");
}

static void abc_has_the_published_digest(void)
{
    char hex[TAKT_SHA256_HEX];

    takt__sha256_hex("abc", 3, hex);
    EXPECT_STR(hex, "ba7816bf8f01cfea414140de5dae2223"
                    "b00361a396177a9cb410ff61f20015ad");
}

static void a_message_of_two_blocks_has_the_published_digest(void)
{
    const char *text =
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    char hex[TAKT_SHA256_HEX];

    takt__sha256_hex(text, strlen(text), hex);
    EXPECT_STR(hex, "248d6a61d20638b8e5c026930c3e6039"
                    "a33ce45964ff2167f6ecedd419db06c1");
}

static void a_million_letters_have_the_published_digest(void)
{
    static char text[1000000];
    char hex[TAKT_SHA256_HEX];

    memset(text, 'a', sizeof text);
    takt__sha256_hex(text, sizeof text, hex);
    EXPECT_STR(hex, "cdc76e5c9914fb9281a1c7e284d73e67"
                    "f1809a48a497200e046d39ccc7112cd0");
}

static void the_pieces_of_a_message_do_not_matter(void)
{
    unsigned char text[200];
    unsigned char whole[TAKT_SHA256_BYTES];
    unsigned char parts[TAKT_SHA256_BYTES];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)(i * 37);
    for (size_t length = 0; length <= sizeof text; length++)
        for (size_t cut = 0; cut <= length; cut++) {
            struct takt_sha256 hash;

            takt__sha256_init(&hash);
            takt__sha256_add(&hash, text, length);
            takt__sha256_finish(&hash, whole);
            takt__sha256_init(&hash);
            takt__sha256_add(&hash, text, cut);
            takt__sha256_add(&hash, text + cut, length - cut);
            takt__sha256_finish(&hash, parts);
            TAP_CHECK(memcmp(whole, parts, sizeof whole) == 0,
                      "%zu bytes cut at %zu differ", length, cut);
        }
}

int main(void)
{
    RUN(an_empty_message_has_the_published_digest);
    RUN(abc_has_the_published_digest);
    RUN(a_message_of_two_blocks_has_the_published_digest);
    RUN(a_million_letters_have_the_published_digest);
    RUN(the_pieces_of_a_message_do_not_matter);
    return tap_done();
}
