/* SPDX-License-Identifier: MIT */
/*
 * fuzz_manifest.c - any bytes, read as a manifest: refused, or the profile, or
 * better, is in it afterwards, nothing else has changed, a second run changes
 * nothing, and only what no longer fits is gone from the text.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "project/diff.h"
#include "project/manifest.h"
#include "project/profile_value.h"
#include "project/toml.h"

static void require(bool is_so)
{
    if (!is_so)
        abort();
}

static struct takt_toml *parse(const char *text, size_t length)
{
    struct takt_toml_error error;
    struct takt_toml *toml;

    require(takt__toml_parse(text, length, &toml, &error) == TAKT_OK);
    return toml;
}

static const struct takt_toml_value *release(const struct takt_toml *toml)
{
    return takt__toml_get(takt__toml_get(takt__toml_root(toml), "profile"),
                          "release");
}

static bool is_ours(const struct takt_toml_value *value)
{
    static const char *const keys[] = {"opt-level", "lto", "codegen-units",
                                       "strip"};

    for (int i = 0; i < 4; i++) {
        if (value->key_length == strlen(keys[i]) &&
            memcmp(value->key, keys[i], value->key_length) == 0)
            return true;
    }
    return false;
}

/* The next thing that a profile does not set. */
static const struct takt_toml_value *skip(const struct takt_toml_value *value,
                                          const struct takt_toml_value *table)
{
    while (value != NULL && table != NULL && value->parent == table &&
           is_ours(value))
        value = value->next;
    return value;
}

/* Whether two trees hold the same, but for what a profile sets. New tables on
 * the way to it may be there. */
static void compare(const struct takt_toml_value *a, const char *a_text,
                    const struct takt_toml_value *a_release,
                    const struct takt_toml_value *b, const char *b_text,
                    const struct takt_toml_value *b_release)
{
    require(a->kind == b->kind);
    if (a->kind != TAKT_TOML_TABLE && a->kind != TAKT_TOML_ARRAY) {
        const size_t length = a->text.to - a->text.from;
        require(length == b->text.to - b->text.from &&
                memcmp(a_text + a->text.from, b_text + b->text.from, length) ==
                    0);
        return;
    }
    const struct takt_toml_value *x = skip(a->first, a_release);
    const struct takt_toml_value *y = skip(b->first, b_release);
    while (x != NULL) {
        require(y != NULL && x->key_length == y->key_length);
        require(x->key_length == 0 ||
                memcmp(x->key, y->key, x->key_length) == 0);
        compare(x, a_text, a_release, y, b_text, b_release);
        x = skip(x->next, a_release);
        y = skip(y->next, b_release);
    }
    require(y == NULL || (y->next == NULL && a_release == NULL &&
                          (y == b_release || y == b_release->parent)));
}

/* What is asked for is there; what is not is at least as fast as before. */
static void check_profile(const struct takt_toml_value *before,
                          const struct takt_toml_value *after,
                          struct takt_profile_wish wish)
{
    static const int ranks[TAKT_PROFILES][TAKT_PROFILE_KEYS] = {
        {2, 0, -16, 0}, {3, 2, -4, 0}, {3, 3, -1, 2}};

    for (int i = 0; i < TAKT_PROFILE_KEYS; i++) {
        const enum takt_profile_key key = (enum takt_profile_key)i;
        const char *name = takt__profile_key_name(key);
        const int was = takt__profile_rank(key, takt__toml_get(before, name));
        const int is = takt__profile_rank(key, takt__toml_get(after, name));
        if (key == TAKT_KEY_STRIP)
            require(!takt__profile_has_debug(takt__toml_get(after, "debug")) ||
                    takt__toml_get(before, name) != NULL ||
                    takt__toml_get(after, name) == NULL);
        else if (wish.is_asked)
            require(is == ranks[wish.profile][i]);
        else
            require(is >= was && (is == was || is == ranks[wish.profile][i]));
    }
}

static void check_change(const char *old, size_t old_length, const char *new_,
                         size_t new_length, struct takt_profile_wish wish)
{
    struct takt_toml *a = parse(old, old_length), *b = parse(new_, new_length);
    char *again;
    size_t again_length;

    check_profile(release(a), release(b), wish);
    compare(takt__toml_root(a), old, release(a), takt__toml_root(b), new_,
            release(b));
    require(takt__manifest_set_profile("again", new_, new_length, wish, &again,
                                       &again_length, NULL, NULL) == TAKT_OK);
    require(again_length == new_length && memcmp(again, new_, new_length) == 0);
    free(again);
    takt__toml_destroy(a);
    takt__toml_destroy(b);
    char *diff = takt__diff((struct takt_diff_side){"a", old, old_length},
                            (struct takt_diff_side){"b", new_, new_length});
    require(diff != NULL);
    free(diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return 0;
    const struct takt_profile_wish wish = {
        (enum takt_profile)(bytes[0] % TAKT_PROFILES),
        bytes[0] / TAKT_PROFILES % 2 == 0};
    char *old = malloc(length); /* exactly: no byte behind is read */
    char *new_;
    size_t new_length;
    takt_diag diag;

    require(old != NULL);
    length--;
    memcpy(old, bytes + 1, length);
    const takt_status status = takt__manifest_set_profile(
        "Cargo.toml", old, length, wish, &new_, &new_length, NULL, &diag);
    if (status == TAKT_OK)
        check_change(old, length, new_, new_length, wish);
    else
        require(new_ == NULL && diag.text[0] != '\0' &&
                (status == TAKT_EINVAL || status == TAKT_ECORRUPT));
    free(new_);
    free(old);
    return 0;
}
