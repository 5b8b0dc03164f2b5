/* SPDX-License-Identifier: MIT */
/* machine.c - the public face of the probe and its sources. */

#include <stdlib.h>

#include "hw/powercap.h"
#include "hw/probe.h"

const char *takt_isa_name(takt_isa isa)
{
    static const char *const names[] = {[TAKT_ISA_SCALAR] = "scalar",
                                        [TAKT_ISA_SSE2] = "sse2",
                                        [TAKT_ISA_AVX2] = "avx2",
                                        [TAKT_ISA_AVX512] = "avx512",
                                        [TAKT_ISA_NEON] = "neon"};

    return (size_t)isa < sizeof names / sizeof names[0] ? names[isa] : "?";
}

static takt_status probe_new(const struct takt_hw_source *source,
                             takt_machine **out)
{
    takt_machine *machine = malloc(sizeof *machine);
    if (machine == NULL)
        return TAKT_ENOMEM;

    const takt_status status = takt__machine_probe(source, machine);
    if (status == TAKT_OK)
        *out = machine;
    else
        free(machine);
    return status;
}

takt_status takt_machine_create(const char *recording, takt_machine **out)
{
    struct takt_hw_source source;

    if (out == NULL)
        return TAKT_EINVAL;
    *out = NULL;
    if (recording == NULL) {
        source = takt__host_source();
        return probe_new(&source, out);
    }

    takt_status status = takt__replay_open(recording, &source);
    if (status != TAKT_OK)
        return status;
    status = probe_new(&source, out);
    takt__replay_close(&source);
    return status;
}

void takt_machine_destroy(takt_machine *machine)
{
    free(machine);
}

takt_status takt_machine_record(const char *folder)
{
    const struct takt_hw_source host = takt__host_source();
    struct takt_hw_source recorder;
    struct takt_powercap_zone zone[TAKT_POWERCAP_ZONES];
    takt_machine *machine = NULL;

    if (folder == NULL || folder[0] == '\0')
        return TAKT_EINVAL;
    takt_status status = takt__recorder_open(&host, folder, &recorder);
    if (status != TAKT_OK)
        return status;
    status = probe_new(&recorder, &machine);
    takt_machine_destroy(machine);
    takt__powercap_find(&recorder, zone); /* which keeps what it read */
    return takt__recorder_close(&recorder, status);
}

takt_isa takt_machine_best_isa(const takt_machine *machine)
{
    static const takt_isa best_first[] = {TAKT_ISA_AVX512, TAKT_ISA_AVX2,
                                          TAKT_ISA_SSE2, TAKT_ISA_NEON};

    for (size_t i = 0; i < sizeof best_first / sizeof best_first[0]; i++)
        if (machine != NULL && (machine->isas >> best_first[i] & 1) != 0)
            return best_first[i];
    return TAKT_ISA_SCALAR;
}
