/* SPDX-License-Identifier: MIT */
/* optimize_cargo.c - the release profile in Cargo.toml. */
#include <stdio.h>
#include <stdlib.h>

#include "optimize.h"
#include "project/manifest.h"

/* A file of another tool sets nothing of ours. */
static struct takt_profile_wish profile_wish(const struct workflow *workflow,
                                             bool is_named)
{
    const struct takt_project_config *config = &workflow->config;

    return (struct takt_profile_wish){
        config->profile,
        is_named ||
            ((config->given & TAKT_GIVEN_PROFILE) != 0 && !config->is_batuta)};
}

bool set_cargo_profile(const struct workflow *workflow, bool is_named,
                       struct profile_outcome *outcome, char *error,
                       size_t size)
{
    struct takt_manifest_change change;
    takt_diag diag = {""};
    char *backup = NULL;
    takt_status status =
        takt__manifest_plan(workflow->target, workflow->folder,
                            profile_wish(workflow, is_named), &change, &diag);

    if (status == TAKT_ENOENT && diag.text[0] == '\0')
        return true; /* not a project of Cargo */
    if (status == TAKT_OK && workflow->is_dry && change.outside != NULL) {
        complain(workflow->command,
                 "'%s' has the profile, and is outside of '%s': it would be "
                 "left alone",
                 change.outside, workflow->folder);
        takt__manifest_change_fini(&change);
        return true;
    }
    if (status == TAKT_OK) {
        outcome->is_cargo = true;
        outcome->is_changed = change.is_needed;
        outcome->profile = takt__profile_name(workflow->config.profile);
        snprintf(outcome->path, sizeof outcome->path, "%s", change.path);
        outcome->kept = change.kept;
        if (change.is_needed)
            outcome->diff = takt__manifest_diff(&change);
        if (change.is_needed && !workflow->is_dry)
            status = takt__manifest_write(&change, &backup, &diag);
        if (backup != NULL)
            snprintf(outcome->backup, sizeof outcome->backup, "%s", backup);
        free(backup);
        takt__manifest_change_fini(&change);
    }
    if (status != TAKT_OK)
        snprintf(error, size, "%s",
                 diag.text[0] != '\0' ? diag.text : takt_status_text(status));
    return status == TAKT_OK;
}
