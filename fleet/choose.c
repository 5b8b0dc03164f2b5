/* SPDX-License-Identifier: MIT */
/* choose.c - classes by how near they are, and their cells as records. */
#include "fleet/choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Where a cell comes from, the best first. */
enum source {
    FROM_EXACT,
    FROM_KIND,
    FROM_DEVICE,
    FROM_LIKE,
    FROM_VENDOR,
    FROM_NOWHERE
};

/* Variances of ln(seconds) on top of the spread between machines: of one
 * fingerprint, of one kind, of a GPU with another driver, of another kind that
 * is just like it, of a vendor. Machines less alike add up to `unlike`.
 * Judgement, tried by bench_fleet. */
static const double extra[] = {0.03 * 0.03, 0.08 * 0.08, 0.15 * 0.15,
                               0.15 * 0.15, 0.4 * 0.4};
static const double unlike = 0.5, least_like = 0.02;

/* ---- classes ------------------------------------------------------------- */

size_t takt__fleet_own_classes(const takt_machine *machine,
                               const struct takt_fleet_facts *facts,
                               char out[TAKT_FLEET_OWN][TAKT_FLEET_CLASS])
{
    size_t count = 0;

    for (int i = 0; i < TAKT_FLEET_LEVELS; i++) {
        const enum takt_fleet_level level = (enum takt_fleet_level)i;
        const bool is_each =
            level == TAKT_FLEET_KIND || level == TAKT_FLEET_DEVICE;
        takt__fleet_class(facts, level, "", out[count]);
        count += out[count][0] != '\0';
        for (unsigned j = 0;
             j < (is_each ? machine->gpu_count : machine->gpu_count > 0); j++) {
            takt__fleet_class(facts, level, machine->gpu[j].fingerprint,
                              out[count]);
            count += out[count][0] != '\0';
        }
    }
    return count;
}

/* How alike a class of processors is that `prior` has the facts of; 0: it has
 * none, or of another kind of class. */
static double likeness_of(const struct takt_fleet_prior *prior,
                          const struct takt_fleet_facts *facts)
{
    struct takt_fleet_facts others;

    if (prior->line[0] != '\0' || strncmp(prior->class, "cpu.", 4) != 0 ||
        !takt__fleet_facts_parse((const char *)prior->bytes, prior->length,
                                 &others))
        return 0;
    return takt__fleet_likeness(facts, &others);
}

size_t takt__fleet_near_classes(const struct takt_fleet_priors *priors,
                                const struct takt_fleet_facts *facts,
                                char out[TAKT_FLEET_NEAR][TAKT_FLEET_CLASS])
{
    double best[TAKT_FLEET_NEAR];
    char own[TAKT_FLEET_CLASS];
    size_t count = 0;

    takt__fleet_class(facts, TAKT_FLEET_KIND, "", own);
    for (size_t i = 0; i < priors->count; i++) {
        const double alike = likeness_of(&priors->prior[i], facts);
        size_t at = count;
        if (alike < least_like || strcmp(priors->prior[i].class, own) == 0)
            continue;
        while (at > 0 && best[at - 1] < alike)
            at--;
        if (at == TAKT_FLEET_NEAR)
            continue;
        count += count < TAKT_FLEET_NEAR;
        memmove(&best[at + 1], &best[at], (count - 1 - at) * sizeof best[0]);
        memmove(out[at + 1], out[at], (count - 1 - at) * sizeof out[0]);
        best[at] = alike;
        strcpy(out[at], priors->prior[i].class);
    }
    return count;
}

/* ---- candidates ---------------------------------------------------------- */

struct prior_candidate {
    const char *line;
    enum source source;
    double weight; /* FROM_LIKE: how alike */
    struct takt_fleet_cell cell;
};

/* A line that no prior has. */
struct made_line {
    struct made_line *next;
    char text[TAKT_FLEET_LINE];
};

struct prior_candidates {
    struct prior_candidate *at;
    size_t count, room;
};

struct choosing {
    const struct takt_fleet_priors *priors;
    const takt_machine *machine;
    const struct takt_fleet_facts *facts;
    char near[TAKT_FLEET_NEAR][TAKT_FLEET_CLASS];
    double alike[TAKT_FLEET_NEAR];
    size_t near_count;
    struct prior_candidates list;
    struct made_line *made; /* owned */
};

/* Whether the machine can have that expert. */
static bool is_usable(const struct choosing *choosing,
                      const struct takt_fleet_line *line)
{
    const takt_machine *machine = choosing->machine;

    if (takt__fleet_threads(line->expert) > machine->logical_cpus)
        return false;
    for (int isa = TAKT_ISA_SSE2; isa <= TAKT_ISA_NEON; isa++) {
        const char *name = takt_isa_name((takt_isa)isa);
        if (strncmp(line->expert, "simd.", 5) == 0 &&
            strncmp(line->expert + 5, name, strlen(name)) == 0)
            return machine->isas >> isa & 1;
    }
    return true;
}

static enum source source_of(const struct choosing *choosing,
                             const struct takt_fleet_prior *prior,
                             const char *device, double *weight)
{
    static const enum source by_level[] = {FROM_EXACT, FROM_KIND, FROM_DEVICE,
                                           FROM_VENDOR};
    char class[TAKT_FLEET_CLASS];

    *weight = 1;
    for (int i = 0; i < TAKT_FLEET_LEVELS; i++) {
        takt__fleet_class(choosing->facts, (enum takt_fleet_level)i, device,
                          class);
        if (strcmp(class, prior->class) == 0)
            return by_level[i];
    }
    takt__fleet_class(choosing->facts, TAKT_FLEET_VENDOR, "gpu", class);
    if (strcmp(class, prior->class) == 0)
        return FROM_VENDOR;
    for (size_t i = 0; i < choosing->near_count && device[0] == '\0'; i++)
        if (strcmp(choosing->near[i], prior->class) == 0) {
            *weight = choosing->alike[i];
            return FROM_LIKE;
        }
    return FROM_NOWHERE;
}

static bool add_candidate(struct prior_candidates *list,
                          const struct prior_candidate *candidate)
{
    if (!takt__grow(&list->at, &list->room, list->count + 1, sizeof *candidate))
        return false;
    list->at[list->count++] = *candidate;
    return true;
}

/* The same line of the GPU that the expert has here, by its number; NULL: there
 * is none, or no memory. */
static const char *line_here(struct choosing *choosing, const char *stem,
                             const char *expert)
{
    const unsigned long number = strtoul(strchr(expert, '.') + 1, NULL, 10);
    const takt_machine *machine = choosing->machine;

    if (number >= machine->gpu_count)
        return NULL;
    struct made_line *made = malloc(sizeof *made);
    if (made == NULL)
        return NULL;
    const int length = snprintf(made->text, sizeof made->text, "%s%.16s", stem,
                                machine->gpu[number].fingerprint);
    if (length < 0 || (size_t)length >= sizeof made->text) {
        free(made);
        return NULL;
    }
    made->next = choosing->made;
    choosing->made = made;
    return made->text;
}

/* False: no memory. What is not valid is passed over. */
static bool take_prior(struct choosing *choosing,
                       const struct takt_fleet_prior *prior)
{
    static struct takt_fleet_cell cell[TAKT_FLEET_MOST_CELLS];
    struct takt_fleet_line line;
    struct prior_candidate candidate = {.line = prior->line};
    size_t count;

    if (prior->line[0] == '\0' || !takt__fleet_line_parse(prior->line, &line) ||
        !is_usable(choosing, &line))
        return true;
    candidate.source =
        source_of(choosing, prior, line.device, &candidate.weight);
    if (candidate.source == FROM_VENDOR &&
        strncmp(prior->class, "gpus.", 5) == 0)
        candidate.line = strchr(line.expert, '.') == NULL
                             ? NULL
                             : line_here(choosing, prior->line, line.expert);
    if (candidate.source == FROM_NOWHERE || candidate.line == NULL ||
        !takt__fleet_decode(prior->bytes, prior->length, cell, &count))
        return true;
    for (size_t i = 0; i < count; i++) {
        candidate.cell = cell[i];
        if (cell[i].n >= 1 && !add_candidate(&choosing->list, &candidate))
            return false;
    }
    return true;
}

/* ---- the choice ---------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const struct prior_candidate *x = a, *y = b;
    int order = strcmp(x->line, y->line);

    if (order == 0)
        order = (x->cell.bin > y->cell.bin) - (x->cell.bin < y->cell.bin);
    if (order == 0)
        order = (x->source > y->source) - (x->source < y->source);
    return order != 0 ? order
                      : (x->weight < y->weight) - (x->weight > y->weight);
}

static double variance_of(const struct takt_fleet_cell *cell)
{
    return (double)cell->m2 / (double)cell->n;
}

/* The mean of cells of other kinds, by how alike they are; what they differ by
 * is uncertainty. The most alike comes first. */
static struct takt_fleet_cell average(const struct prior_candidate *from,
                                      size_t count, double *variance)
{
    struct takt_fleet_cell out = from->cell;
    double weights = 0, mean = 0, squares = 0, machines = 0;

    for (size_t i = 0; i < count; i++) {
        const double value = (double)from[i].cell.mean;
        weights += from[i].weight;
        mean += from[i].weight * value;
        squares +=
            from[i].weight * (value * value + variance_of(&from[i].cell));
        machines += (double)from[i].cell.n;
    }
    mean /= weights;
    *variance = fmax(0, squares / weights - mean * mean) +
                unlike * (1 - from->weight) * (1 - from->weight);
    out.mean = (float)mean;
    out.n = (float)machines;
    return out;
}

static const char *device_of(const takt_machine *machine, const char *digits)
{
    for (unsigned i = 0; i < machine->gpu_count; i++)
        if (strncmp(machine->gpu[i].fingerprint, digits, 16) == 0)
            return machine->gpu[i].fingerprint;
    return "";
}

/* A work of 0, or within what records may have. */
static double work_of(float value)
{
    return (double)value < TAKT_RECORD_LEAST_WORK
               ? 0
               : fmin((double)value, TAKT_RECORD_MOST_WORK);
}

/* False: it cannot be had here. */
static bool make_record(const struct choosing *choosing,
                        const struct prior_candidate *best,
                        const struct takt_fleet_cell *cell, double variance,
                        struct takt_record *out)
{
    struct takt_fleet_line line;

    takt__fleet_line_parse(best->line, &line);
    *out = (struct takt_record){
        .dtype = line.dtype,
        .situation = line.situation,
        .bin = cell->bin,
        .epoch = choosing->priors->generation % TAKT_RECORD_LATEST,
        .seq = (uint64_t)best->source,
        .n = (double)cell->n,
        .mean = (double)cell->mean,
        .m2 = fmin(variance, 40) * (double)cell->n,
        .first_s = (double)cell->first_s,
        .bytes = work_of(cell->bytes),
        .flops = work_of(cell->flops),
    };
    takt__record_fleet(choosing->machine->hw_fingerprint, out->machine);
    snprintf(out->device, sizeof out->device, "%s",
             device_of(choosing->machine, line.device));
    snprintf(out->software, sizeof out->software, "fleet");
    memset(out->writer, '0', TAKT_RECORD_WRITER - 1);
    snprintf(out->op, sizeof out->op, "%s", line.op);
    snprintf(out->layout, sizeof out->layout, "%s", line.layout);
    snprintf(out->expert, sizeof out->expert, "%s", line.expert);
    return takt__record_is_sound(out) &&
           (line.device[0] == '\0' || out->device[0] != '\0');
}

/* Candidates for one line and bin, the best first. */
static void settle(const struct choosing *choosing,
                   const struct prior_candidate *from, size_t count,
                   struct takt_fleet_choice *out)
{
    struct takt_fleet_cell cell = from->cell;
    double variance = variance_of(&cell);
    size_t alike = 0;

    while (alike < count && from[alike].source == FROM_LIKE)
        alike++;
    if (alike > 0)
        cell = average(from, alike, &variance);
    if (!make_record(choosing, from, &cell, variance + extra[from->source],
                     &out->record[out->count]))
        return;
    out->count++;
    if ((double)cell.n > out->machines)
        out->machines = (unsigned)cell.n;
}

static takt_status settle_all(struct choosing *choosing,
                              struct takt_fleet_choice *out)
{
    struct prior_candidates *list = &choosing->list;
    size_t next;

    out->record = calloc(list->count + 1, sizeof *out->record);
    if (out->record == NULL)
        return TAKT_ENOMEM;
    if (list->count > 0)
        qsort(list->at, list->count, sizeof *list->at, by_key);
    for (size_t i = 0; i < list->count; i = next) {
        for (next = i + 1; next < list->count; next++)
            if (list->at[next].cell.bin != list->at[i].cell.bin ||
                strcmp(list->at[next].line, list->at[i].line) != 0)
                break;
        settle(choosing, &list->at[i], next - i, out);
    }
    return TAKT_OK;
}

takt_status takt__fleet_choose(const struct takt_fleet_priors *priors,
                               const takt_machine *machine,
                               const struct takt_fleet_facts *facts,
                               struct takt_fleet_choice *out)
{
    struct choosing choosing = {
        .priors = priors, .machine = machine, .facts = facts};
    bool is_whole = true;

    *out = (struct takt_fleet_choice){0};
    choosing.near_count =
        takt__fleet_near_classes(priors, facts, choosing.near);
    for (size_t i = 0; i < priors->count; i++)
        for (size_t j = 0; j < choosing.near_count; j++)
            if (priors->prior[i].line[0] == '\0' &&
                strcmp(priors->prior[i].class, choosing.near[j]) == 0)
                choosing.alike[j] = likeness_of(&priors->prior[i], facts);
    for (size_t i = 0; is_whole && i < priors->count; i++)
        is_whole = take_prior(&choosing, &priors->prior[i]);
    const takt_status status =
        is_whole ? settle_all(&choosing, out) : TAKT_ENOMEM;
    free(choosing.list.at);
    while (choosing.made != NULL) {
        struct made_line *next = choosing.made->next;
        free(choosing.made);
        choosing.made = next;
    }
    return status;
}
