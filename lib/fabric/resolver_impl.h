/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the resolver: its index, and what a text can be read as. */
#pragma once

#include "base/map.h"
#include "fabric/resolver.h"

enum {
	FAB_LIDS = 0xc000,
	FAB_READINGS_MAX = 64, /* kept of each text; there may be more */
};

/* Kinds of things that have names. */
enum fab_thing_kind {
	FAB_THING_SWITCH,
	FAB_THING_ADAPTER, /* every node that is no switch */
	FAB_THING_HOST,
	FAB_N_NAMED,
	FAB_THING_PORT = FAB_N_NAMED,
};

struct fab_thing {
	enum fab_thing_kind kind;
	uint32_t id; /* node, host, port */
};

struct fab_view {
	const struct fab_resolver *r;
	enum fab_want want;
};

struct fab_resolver {
	const struct fab_fabric *f;
	/* ids: nodes and hosts. An adapter that is called as its host is not there. */
	struct fab_directory *names[FAB_N_NAMED];
	struct fab_map64 *node_guid, *port_guid; /* to nodes and ports, FAB_SHARED */
	uint32_t *lid; /* [FAB_LIDS] port, FAB_SHARED, FAB_NONE */
	struct fab_view view[FAB_N_WANTS];
};

/* What a text can stand for, whatever is wanted. */
struct fab_readings {
	struct fab_thing of[FAB_READINGS_MAX];
	uint32_t n; /* that are kept */
	uint64_t n_all;
};

/* Kinds are bits 1 << kind. O(len). */
void fab_readings_of(const struct fab_resolver *r, unsigned kinds,
		     const struct fab_item *name, struct fab_readings *out);
/* What is wanted of a thing; FAB_NONE: it is none, or has no cable. */
uint32_t fab_thing_as(const struct fab_fabric *f, const struct fab_thing *thing,
		      enum fab_want want);
/* Kinds that a name may be of. */
unsigned fab_want_kinds(enum fab_want want);

/* How a port's number is parted from the name: `:`, `/`, ` port `. */
extern const char *const fab_port_separators[3];
/* The length of the name before a separator and the number of a port, 0: there is none.
 */
size_t fab_port_suffix(const char *text, size_t len, const char *separator,
		       uint64_t *number);

/* ENOENT, EINVAL: the sentence about a name that stands for nothing, or not for what is
 * wanted. O(names). */
int fab_resolver_say_none(const struct fab_resolver *r, enum fab_want want,
			  const struct fab_item *name, struct fab_err *err);
int fab_resolver_say_several(const struct fab_resolver *r, enum fab_want want,
			     const struct fab_item *name,
			     const struct fab_readings *readings, struct fab_err *err);
