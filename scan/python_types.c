/* SPDX-License-Identifier: MIT */
/*
 * python_types.c - what annotations say of values, and of what is in a list.
 *
 * A list holds anything; `list[float]` holds numbers, `list[Decimal]` and
 * text.split() do not, whatever is done to their items.
 */
#include "python_results.h"

#include <string.h>

enum { DEEPEST = 40 };

static const struct takt_python_value unknown = {.kind = TAKT_PYTHON_UNKNOWN};

/* The last part of a name: "List" of typing.List. */
static struct takt_text last_part(const struct takt_source *source, TSNode node)
{
    TSNode name = takt__node_field(node, "attribute");
    return takt__node_text(source, ts_node_is_null(name) ? node : name);
}

/* Without what says nothing of it: Optional[X], X | None. */
static TSNode plain_type(const struct takt_source *source, TSNode type)
{
    for (unsigned i = 0; i < DEEPEST && !ts_node_is_null(type); i++) {
        if (takt__node_is(type, "generic_type") &&
            takt__text_is(last_part(source, takt__node_child(type, 0)),
                          "Optional"))
            type = takt__node_child(type, 1);
        else if (takt__node_in(
                     type, "type type_parameter union_type binary_operator"))
            type = takt__node_child(type, 0);
        else
            break;
    }
    return type;
}

/* What a plain type is called without its parameters. */
static TSNode type_name(TSNode type)
{
    for (unsigned i = 0; i < DEEPEST && !ts_node_is_null(type); i++) {
        if (takt__node_in(type, "identifier attribute"))
            break;
        type = takt__node_child(type, 0);
    }
    return type;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

struct takt_python_value
takt__python_annotated(const struct takt_source *source, TSNode type)
{
    char dotted[TAKT_PYTHON_DOTTED];
    struct takt_python_value out = unknown;

    type = type_name(plain_type(source, type));
    if (ts_node_is_null(type))
        return out;
    if (takt__python_is_own_class(source, type)) {
        out.kind = TAKT_PYTHON_THING;
        return out;
    }
    if (!takt__python_dotted(source, type, dotted))
        return out;
    if (strcmp(dotted, "torch.Tensor") == 0)
        return takt__python_some_array(true);
    if (strcmp(dotted, "numpy.ndarray") == 0 ||
        strcmp(dotted, "numpy.typing.NDArray") == 0)
        return takt__python_some_array(false);
    if (strcmp(dotted, "builtins.int") == 0 ||
        strcmp(dotted, "builtins.float") == 0)
        out.kind = TAKT_PYTHON_NUMBER;
    else if (starts(dotted, "builtins.") || starts(dotted, "pathlib.") ||
             starts(dotted, "decimal.") || starts(dotted, "fractions.") ||
             starts(dotted, "datetime."))
        out.kind = TAKT_PYTHON_THING;
    return out;
}

/* ---- what is in a list --------------------------------------------------- */

static const char lists[] =
    "list List Sequence MutableSequence Iterable Iterator Collection set Set "
    "frozenset FrozenSet deque Deque";

/* The type of the items: float of list[float], tuple[float, ...]; null. */
static TSNode item_type(const struct takt_source *source, TSNode type)
{
    TSNode none = {{0}, NULL, NULL};

    type = plain_type(source, type);
    if (!takt__node_in(type, "generic_type subscript"))
        return none;
    const struct takt_text name = last_part(source, takt__node_child(type, 0));
    TSNode within = takt__node_child(type, 1);
    if (takt__text_in(name, "tuple Tuple"))
        return takt__node_children(within) == 2 &&
                       takt__text_is(
                           takt__node_text(source, takt__node_child(within, 1)),
                           "...")
                   ? takt__node_child(within, 0)
                   : none;
    return takt__text_in(name, lists) ? within : none;
}

static struct takt_python_value item_of(const struct takt_source *source,
                                        TSNode type)
{
    char dotted[TAKT_PYTHON_DOTTED];
    TSNode name = type_name(plain_type(source, type));

    if (ts_node_is_null(name))
        return unknown;
    if (takt__python_dotted(source, name, dotted)) {
        const struct takt_text text = {dotted, strlen(dotted)};
        if (takt__text_in(text, "builtins.float numpy.float32 numpy.float64"))
            return (struct takt_python_value){.kind = TAKT_PYTHON_NUMBER};
        /* a row has items of its own, and whole numbers may be counts */
        if (takt__text_in(text, "builtins.list builtins.tuple builtins.int"))
            return unknown;
    }
    return takt__python_annotated(source, type);
}

/* text.split(), re.findall(...), os.listdir(...): texts. */
static bool makes_texts(const struct takt_source *source, TSNode call)
{
    char dotted[TAKT_PYTHON_DOTTED];
    TSNode function = takt__node_field(call, "function");

    if (!takt__node_is(call, "call"))
        return false;
    if (takt__python_dotted(source, function, dotted) &&
        !starts(dotted, "builtins."))
        return takt__text_in((struct takt_text){dotted, strlen(dotted)},
                             "re.findall re.split os.listdir glob.glob "
                             "shlex.split textwrap.wrap");
    return takt__node_is(function, "attribute") &&
           takt__text_in(last_part(source, function),
                         "split rsplit splitlines readlines") &&
           takt__python_value(source, takt__node_field(function, "object"))
                   .kind != TAKT_PYTHON_ARRAY;
}

struct takt_python_value takt__python_item(const struct takt_source *source,
                                           TSNode over)
{
    const struct takt_python_binding *binding = NULL;
    const struct takt_text name =
        takt__node_text(source, over = takt__python_bare(over));
    const uint32_t at = ts_node_start_byte(over);

    if (takt__node_is(over, "identifier"))
        binding = takt__python_lookup(source, name, at);
    else if (takt__node_is(over, "attribute") && name.size > 5 &&
             memcmp(name.at, "self.", 5) == 0)
        binding = takt__python_own(source, name, at);
    if (binding != NULL && !ts_node_is_null(binding->type))
        return item_of(source, item_type(source, binding->type));
    return (struct takt_python_value){
        .kind = makes_texts(source, takt__python_follow(source, over))
                    ? TAKT_PYTHON_THING
                    : TAKT_PYTHON_UNKNOWN};
}

bool takt__python_may_hold_numbers(const struct takt_source *source,
                                   TSNode over)
{
    const struct takt_python_notes *notes = source->notes;
    const enum takt_python_kind item = takt__python_item(source, over).kind;

    if (item == TAKT_PYTHON_UNKNOWN && notes->has_symbols)
        return takt__python_value(source, over).kind == TAKT_PYTHON_ARRAY;
    return item != TAKT_PYTHON_THING;
}
