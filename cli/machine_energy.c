/* SPDX-License-Identifier: MIT */
/* machine_energy.c - the counters of energy, for `takt machine` and `doctor`.
 */
#include "machine_energy.h"

#include <stdio.h>

#include "clean.h"

struct takt_energy_meter *open_energy(const char *recording)
{
    struct takt_hw_source source = takt__host_source();

    if (recording == NULL)
        return takt__meter_open(&source, true);
    if (takt__replay_open(recording, &source) != TAKT_OK)
        return NULL;
    struct takt_energy_meter *meter = takt__meter_open(&source, false);
    takt__replay_close(&source); /* what it knows is read */
    return meter;
}

void describe_counter(const struct takt_energy_counter *counter, char *out,
                      size_t size)
{
    snprintf(out, size, "%s: %s%s%s%s", counter->source, counter->name,
             counter->address[0] != '\0' ? " at " : "", counter->address,
             counter->is_power ? ", by adding up its power" : "");
}

/* The label stands before the first line only. */
static const char *label(bool *is_begun)
{
    const char *text = *is_begun ? "            " : "energy      ";

    *is_begun = true;
    return text;
}

void print_energy(const struct takt_energy_meter *meter)
{
    bool is_begun = false;
    char text[128];
    const char *problem;

    if (meter == NULL)
        return;
    for (unsigned i = 0; i < takt__meter_count(meter); i++) {
        describe_counter(&takt__meter_counters(meter)[i], text, sizeof text);
        print_line(stdout, "%s %s", label(&is_begun), text);
    }
    if (!is_begun)
        print_line(stdout, "%s unknown: nothing counts it", label(&is_begun));
    for (unsigned i = 0; (problem = takt__meter_problem(meter, i)) != NULL; i++)
        print_line(stdout, "%s %s", label(&is_begun), problem);
}

void print_energy_json(struct json *json, const struct takt_energy_meter *meter)
{
    const char *problem;

    json_print(json, "energy:[");
    for (unsigned i = 0; i < takt__meter_count(meter); i++) {
        const struct takt_energy_counter *counter =
            &takt__meter_counters(meter)[i];
        json_print(json, "{source:%s name:%s address:%s added_up:%d}",
                   counter->source, counter->name, known_text(counter->address),
                   counter->is_power);
    }
    json_print(json, "] energy_problems:[");
    for (unsigned i = 0; (problem = takt__meter_problem(meter, i)) != NULL; i++)
        json_string(json, NULL, problem);
    json_close(json, ']');
}
