/* SPDX-License-Identifier: MIT */
/*
 * rust_memo.c - what was answered lately about a node. An outer loop needs what
 * its inner loops compute, and so do they; a name is looked up by everybody who
 * meets it. Entries have places by where their node stands, so that what is
 * forgotten is the same in each run: an answer may depend on how many questions
 * were left, and those that ran out of them are not kept; nor are those of a
 * look into a function that is called, which is not looked through in turn.
 */
#include "memory.h"
#include "rust.h"

#include <stdlib.h>

enum { VERDICTS = 512, BINDINGS = 1024 };

struct takt_rust_memo {
    struct {
        const void *id;
        takt_rust_judgement *by;
        struct takt_rust_verdict verdict;
    } verdict[VERDICTS];
    struct {
        const void *id;
        struct takt_rust_binding binding;
    } binding[BINDINGS];
};

void takt__rust_memo_open(struct takt_rust *rust)
{
    rust->memo = takt__scan_zeros(1, sizeof *rust->memo);
}

void takt__rust_memo_close(struct takt_rust *rust)
{
    free(rust->memo);
}

struct takt_rust_verdict
takt__rust_once(struct takt_rust *rust, takt_rust_judgement *judge, TSNode node)
{
    const uint32_t start = ts_node_start_byte(node);
    const uint32_t place = 7 * (ts_node_end_byte(node) - start) + start;
    struct takt_rust_memo *memo = rust->memo;
    const size_t i = place % VERDICTS;

    if (memo->verdict[i].id == node.id && memo->verdict[i].by == judge)
        return memo->verdict[i].verdict;
    const struct takt_rust_verdict verdict = judge(rust, node);
    if (rust->steps > 0 && !rust->is_in_own) {
        memo->verdict[i].id = node.id;
        memo->verdict[i].by = judge;
        memo->verdict[i].verdict = verdict;
    }
    return verdict;
}

struct takt_rust_binding takt__rust_binding(struct takt_rust *rust,
                                            TSNode identifier)
{
    struct takt_rust_memo *memo = rust->memo;
    const size_t i = ts_node_start_byte(identifier) % BINDINGS;

    if (!takt__rust_step(rust))
        return (struct takt_rust_binding){.kind = TAKT_RUST_UNBOUND};
    if (memo->binding[i].id != identifier.id) {
        memo->binding[i].binding = takt__rust_look_up(rust, identifier);
        memo->binding[i].id = identifier.id;
    }
    return memo->binding[i].binding;
}
