/* SPDX-License-Identifier: MIT */
/*
 * takt/machine.h - the machine: processor, memory, GPUs.
 *
 * Facts are read from this machine, or from a recording of another one (a
 * folder written by takt_machine_record()): for tests, bug reports, and answers
 * about machines that are elsewhere.
 *
 *     takt_machine *machine;
 *
 *     if (takt_machine_create(NULL, &machine) != TAKT_OK)
 *         return 1;
 *     printf("%s, %u cores, %s\n", machine->cpu_name, machine->cores,
 *            takt_isa_name(takt_machine_best_isa(machine)));
 *     takt_machine_destroy(machine);
 *
 * Threads: a takt_machine is constant once made; use it from any thread.
 */
#ifndef TAKT_MACHINE_H
#define TAKT_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include <takt/export.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An instruction set that an expert may be built on. Usable means: the
 * processor has it and the operating system saves its registers. */
typedef enum takt_isa {
    TAKT_ISA_SCALAR = 0,
    TAKT_ISA_SSE2 = 1,
    TAKT_ISA_AVX2 = 2,   /* with FMA */
    TAKT_ISA_AVX512 = 3, /* F, BW, CD, DQ and VL */
    TAKT_ISA_NEON = 4
} takt_isa;

/* The name of an instruction set: "scalar", "sse2", "avx2", "avx512" or "neon".
 * */
TAKT_API const char *takt_isa_name(takt_isa isa);

/* Further instructions: reported, and part of the fingerprint. */
#define TAKT_CPU_AVX512_VNNI 1u
#define TAKT_CPU_AMX 2u
#define TAKT_CPU_SVE 4u

/* As many GPUs of a machine are listed. */
#define TAKT_MACHINE_MAX_GPUS 16

/* A GPU as the PCI bus knows it. */
typedef struct takt_gpu {
    char name[64];    /* such as "NVIDIA device 2335" */
    char address[16]; /* PCI address, such as "0000:01:00.0" */
    uint32_t vendor;  /* PCI ids */
    uint32_t device;
    uint32_t subsystem; /* subsystem device << 16 | subsystem vendor */
    char fingerprint[65];
} takt_gpu;

/* The facts of a machine. Read only. Members of later versions come after
 * these. */
typedef struct takt_machine {
    char architecture[16]; /* "x86_64" or "aarch64" */
    char cpu_vendor[16];
    char cpu_name[64];
    unsigned cpu_family;   /* on aarch64: the implementer */
    unsigned cpu_model;    /* on aarch64: the part */
    unsigned cpu_stepping; /* on aarch64: variant << 4 | revision */
    unsigned isas;         /* bit 1 << isa is set for each usable one */
    unsigned features;     /* TAKT_CPU_* */
    unsigned sve_bits;     /* vector length; 0: no SVE */
    int is_virtual;        /* a hypervisor says so */

    unsigned cores;        /* physical cores of the machine */
    unsigned logical_cpus; /* hardware threads of the machine */
    unsigned allowed_cpus; /* of those, what affinity leaves this process */
    double quota_cpus;     /* CPU time granted by cgroups; 0: no limit */
    unsigned threads;      /* that Takt uses at most */
    unsigned numa_nodes;

    size_t l1d_bytes; /* of one core; 0: unknown */
    size_t l2_bytes;  /* of one core or module */
    size_t l3_bytes;  /* of one group of cores */
    uint64_t memory_bytes;

    unsigned gpu_count;
    takt_gpu gpu[TAKT_MACHINE_MAX_GPUS];

    /* SHA-256 in hex of what identifies the kind of hardware and the software;
     * nothing measured, no host name, no serial number. "" (those of the GPUs,
     * too) when a file of the machine could not be read that may be there, as
     * when too many files are open: facts may be missing. */
    char hw_fingerprint[65];
    char sw_fingerprint[65];
} takt_machine;

/* Reads the facts of this machine, or of a recording. NULL: this machine. On
 * success the caller owns *out; on failure *out is NULL.
 * TAKT_ENOENT: there is no such recording.
 * TAKT_ECORRUPT: the recording cannot be understood.
 * TAKT_EIO: it cannot be read. */
TAKT_API takt_status takt_machine_create(const char *recording,
                                         takt_machine **out);
TAKT_API void takt_machine_destroy(takt_machine *machine); /* NULL allowed */

/* Records this machine: writes everything a probe of it reads to a new folder,
 * for tests and bug reports. Holds no host name and no serial number.
 * TAKT_EEXIST: the folder exists.
 * TAKT_EIO: it cannot be written. */
TAKT_API takt_status takt_machine_record(const char *folder);

/* The best usable instruction set for experts. */
TAKT_API takt_isa takt_machine_best_isa(const takt_machine *machine);

#ifdef __cplusplus
}
#endif

#endif
