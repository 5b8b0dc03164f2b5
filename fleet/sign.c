/* SPDX-License-Identifier: MIT */
/* sign.c - the few functions of libcrypto that are needed. */
#include "fleet/sign.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/library.h"
#include "base/say.h"

enum { ed25519 = 1087, most_key = 4096 }; /* its number in OpenSSL */

typedef int ask_password(char *out, int size, int is_new, void *self);

struct crypto {
    void *(*new_source)(const void *bytes, int length);
    int (*free_source)(void *source);
    void *(*read_private)(void *source, void **key, ask_password *ask,
                          void *self);
    void *(*read_public)(void *source, void **key, ask_password *ask,
                         void *self);
    int (*kind)(const void *key);
    void (*free_key)(void *key);
    void *(*new_context)(void);
    void (*free_context)(void *context);
    int (*begin_sign)(void *context, void **inner, const void *digest,
                      void *engine, void *key);
    int (*sign)(void *context, unsigned char *out, size_t *length,
                const unsigned char *bytes, size_t count);
    int (*begin_verify)(void *context, void **inner, const void *digest,
                        void *engine, void *key);
    int (*verify)(void *context, const unsigned char *signature, size_t length,
                  const unsigned char *bytes, size_t count);
};

static const struct takt_library_symbol symbols[] = {
    {"BIO_new_mem_buf", offsetof(struct crypto, new_source)},
    {"BIO_free", offsetof(struct crypto, free_source)},
    {"PEM_read_bio_PrivateKey", offsetof(struct crypto, read_private)},
    {"PEM_read_bio_PUBKEY", offsetof(struct crypto, read_public)},
    {"EVP_PKEY_get_id", offsetof(struct crypto, kind)},
    {"EVP_PKEY_free", offsetof(struct crypto, free_key)},
    {"EVP_MD_CTX_new", offsetof(struct crypto, new_context)},
    {"EVP_MD_CTX_free", offsetof(struct crypto, free_context)},
    {"EVP_DigestSignInit", offsetof(struct crypto, begin_sign)},
    {"EVP_DigestSign", offsetof(struct crypto, sign)},
    {"EVP_DigestVerifyInit", offsetof(struct crypto, begin_verify)},
    {"EVP_DigestVerify", offsetof(struct crypto, verify)},
};

static takt_status load(struct crypto *out, takt_diag *diag)
{
    void *library = takt__library_open("libcrypto.so.3");

    if (library == NULL)
        return takt__say(diag, TAKT_ENOTSUP,
                         "OpenSSL 3 is needed: install libssl3 (%s)",
                         takt__library_problem());
    const char *missing = takt__library_find_all(
        library, symbols, sizeof symbols / sizeof *symbols, out);
    return missing == NULL ? TAKT_OK
                           : takt__say(diag, TAKT_ENOTSUP,
                                       "libcrypto.so.3 has no %s", missing);
}

/* A key with a password is refused: a timer cannot type. */
static int no_password(char *out, int size, int is_new, void *self)
{
    (void)out;
    (void)size;
    (void)is_new;
    (void)self;
    return -1;
}

static void *read_key(const struct crypto *crypto, const char *path,
                      bool is_private, takt_diag *diag)
{
    char text[most_key];
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        takt__say(diag, TAKT_OK, "the key %s cannot be read", path);
        return NULL;
    }
    const size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    void *source = crypto->new_source(text, (int)length);
    void *key = source == NULL ? NULL
                : is_private
                    ? crypto->read_private(source, NULL, no_password, NULL)
                    : crypto->read_public(source, NULL, no_password, NULL);
    if (source != NULL)
        crypto->free_source(source);
    memset(text, 0, sizeof text);
    if (key != NULL && crypto->kind(key) == ed25519)
        return key;
    crypto->free_key(key);
    takt__say(diag, TAKT_OK, "%s is no %s key of Ed25519 as PEM", path,
              is_private ? "private" : "public");
    return NULL;
}

takt_status takt__sign(const char *path, const void *bytes, size_t length,
                       unsigned char out[TAKT_SIGNATURE], takt_diag *diag)
{
    struct crypto crypto;
    size_t written = TAKT_SIGNATURE;
    takt_status status = load(&crypto, diag);

    if (status != TAKT_OK)
        return status;
    void *key = read_key(&crypto, path, true, diag);
    if (key == NULL)
        return TAKT_EINVAL;
    void *context = crypto.new_context();
    const bool is_signed =
        context != NULL &&
        crypto.begin_sign(context, NULL, NULL, NULL, key) == 1 &&
        crypto.sign(context, out, &written, bytes, length) == 1;
    crypto.free_context(context);
    crypto.free_key(key);
    return is_signed ? TAKT_OK
                     : takt__say(diag, TAKT_EIO, "OpenSSL could not sign");
}

takt_status takt__verify(const char *path, const void *bytes, size_t length,
                         const unsigned char signature[TAKT_SIGNATURE],
                         takt_diag *diag)
{
    struct crypto crypto;
    takt_status status = load(&crypto, diag);

    if (status != TAKT_OK)
        return status;
    void *key = read_key(&crypto, path, false, diag);
    if (key == NULL)
        return TAKT_EINVAL;
    void *context = crypto.new_context();
    const bool is_good =
        context != NULL &&
        crypto.begin_verify(context, NULL, NULL, NULL, key) == 1 &&
        crypto.verify(context, signature, TAKT_SIGNATURE, bytes, length) == 1;
    crypto.free_context(context);
    crypto.free_key(key);
    return is_good ? TAKT_OK
                   : takt__say(diag, TAKT_ECORRUPT,
                               "it is not signed by the key %s", path);
}
