/* SPDX-License-Identifier: MIT */
/*
 * manifest.h - sets the release profile of a Cargo project:
 *
 *     profile     opt-level  lto     codegen-units  strip
 *     fast        2          "off"   16
 *     balanced    3          "thin"  4
 *     aggressive  3          "fat"   1              "symbols"
 *
 * Keys are merged into what the manifest has, in whatever form that is; where
 * it has nothing, [profile.release] is added at its end. Keys that are not in
 * the table, and `strip` where it has none, are left alone, with one exception:
 * if the manifest has all four values of `aggressive`, `strip` is part of that
 * profile, and is removed when another is set.
 *
 * Nothing is made worse unasked. A profile that nobody asked for (`is_asked` is
 * false) only raises what is there: `lto = true`, fewer units, and "s" and "z",
 * which are for size, stay. A value that means the same stays as it is written.
 * `strip` is never set beside a `debug` that is kept: it would remove what that
 * asks for.
 *
 * Threads: nothing is shared.
 */
#pragma once

#include "project/config.h"

struct takt_profile_wish {
    enum takt_profile profile;
    bool is_asked; /* by name: values may be lowered */
};

/* What stays although the profile has something else: "lto = true,
 * codegen-units = 1"; empty: nothing. */
struct takt_kept_values {
    char text[200];
};

/* The largest manifest that is read. */
enum { TAKT_MANIFEST_BYTES = 4 << 20 };

/* Where the profile of the package or workspace in `folder` belongs: Cargo
 * reads profiles of a workspace's root alone. That is found as Cargo finds it:
 * a manifest with [workspace]; what package.workspace names; or the nearest
 * manifest above that has [workspace] and does not exclude the folder.
 * *path is absolute and the caller's to free; on failure it is NULL.
 * TAKT_ENOENT: there is no Cargo.toml in `folder`; `diag` is empty.
 * TAKT_EIO: a manifest cannot be read.  TAKT_ECORRUPT: one is no TOML.
 * TAKT_EINVAL: something in one cannot be what it is.  TAKT_ENOMEM. */
takt_status takt__manifest_find(const char *folder, char **path,
                                takt_diag *diag);

/* The text of a manifest with that profile in it; the caller frees *out, which
 * is the same text if it has the profile already, and has a NUL behind it that
 * does not count. `name` is for `diag`; `kept` may be NULL.
 * TAKT_ECORRUPT: it is no TOML.
 * TAKT_EINVAL: profile.release is something else than a table, or a key in it
 * is a table.  TAKT_ENOMEM. */
takt_status takt__manifest_set_profile(const char *name, const char *text,
                                       size_t length,
                                       struct takt_profile_wish wish,
                                       char **out, size_t *out_length,
                                       struct takt_kept_values *kept,
                                       takt_diag *diag);

/* What is to be written, for --dry-run to show and others to write. */
struct takt_manifest_change {
    char *path;          /* of the manifest that has the profile, absolute */
    char *file;          /* the same without symbolic links: this is replaced */
    const char *outside; /* which of these is not within the given folder, so
                          * that it is not written; NULL: neither */
    char *old_text;      /* as it is */
    size_t old_length;
    char *new_text; /* as it is to be */
    size_t new_length;
    bool is_needed; /* false: it has that profile, or better */
    struct takt_kept_values kept;
};

/* Whether an absolute path without links is a folder or something within it. */
bool takt__path_is_within(const char *folder, const char *path);

/* All of the above for the project in `folder`; nothing is written. The root of
 * its workspace, or what Cargo.toml links to, may be anywhere: only what is
 * within the folder `within` will be written. The failures are those of both.
 */
takt_status takt__manifest_plan(const char *folder, const char *within,
                                struct takt_profile_wish wish,
                                struct takt_manifest_change *change,
                                takt_diag *diag);

/* What changes, as a unified diff; empty: nothing. The caller frees it.
 * NULL: no memory. */
char *takt__manifest_diff(const struct takt_manifest_change *change);

/* Writes it, if it is needed: whole or not at all, with the permissions and the
 * owner that the file has; of a symbolic link, to where it leads. Before that
 * the old text is saved next to it as Cargo.toml.bak. No backup is ever
 * overwritten: if there is one already, and the old text is nothing but that
 * with a profile of ours, it stays the only one; else the next is called
 * Cargo.toml.bak.1 and so on. *backup, the caller's to free, is its path, or
 * NULL if none was made; `backup` may be NULL.
 * TAKT_EINVAL: the manifest is outside, and is left alone.
 * TAKT_EIO: the manifest is read-only, has changed meanwhile, or it or its
 * backup cannot be written.  TAKT_ENOMEM. */
takt_status takt__manifest_write(const struct takt_manifest_change *change,
                                 char **backup, takt_diag *diag);

/* Frees what it owns. */
void takt__manifest_change_fini(struct takt_manifest_change *change);
