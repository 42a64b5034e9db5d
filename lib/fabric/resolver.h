/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names to ids: the one resolver of everything that people write, in options and in
 * files. A name is
 *
 *   DESCRIPTION    a description, mapped name or host name, as any report prints it (\x1b
 *                  for a control character), short as in drawings or plain as for Slurm
 *                  (fabric/label.h)
 *   NAME/PORT      a port of an adapter, host or switch; of a host with several adapters
 *                  also the number of its connected port
 *   SWITCH:PORT    a cable, also NAME/PORT
 *   lid:N          any LID of a port, those of its LMC included
 *   GUID           of a node or port: 0x and up to 16 digits, 16 digits, four groups
 *                  between colons, fe80::GUID, S-, H- or R- and 16 digits
 *   3.7            the switch whose name ends in `leaf-3.7`: coordinates in a kfat
 *
 * Case and blanks at the ends do not count, but an exact match takes precedence.
 * Ambiguous names are rejected, with candidates.
 */
#pragma once

#include "base/lookup.h"
#include "base/mem.h"
#include "fabric/fabric.h"

struct fab_resolver;

/* The fabric is borrowed. The caller frees. O(nodes + ports). */
struct fab_resolver *fab_resolver_new(const struct fab_fabric *f);
/* NULL is allowed. O(size). */
void fab_resolver_free(struct fab_resolver *r);
FAB_AUTO_POINTER(fab_resolver)

/* Kind of thing that is looked up, and so the kind of id. */
enum fab_want {
	FAB_WANT_SWITCH,   /* node id of a switch */
	FAB_WANT_HOST,	   /* host id; an adapter or port means its host */
	FAB_WANT_ENDPOINT, /* port: 0 of a switch, the first connected one of an adapter,
			      fab_host_endpoint() of a host */
	FAB_WANT_ADAPTER,  /* the same, but of adapters and hosts only */
	FAB_WANT_CABLE,	   /* cable id */
	FAB_WANT_MEMBER,   /* as an endpoint, but an id for fab_member_port() */
	FAB_N_WANTS,
};

/* The endpoint of a member, and what was named for it: this port (or a switch), an
 * adapter or a host, which have others, too. O(adapters of the host). */
enum fab_member_kind { FAB_MEMBER_PORT, FAB_MEMBER_ADAPTER, FAB_MEMBER_HOST };
uint32_t fab_member_port(const struct fab_fabric *f, uint32_t member,
			 enum fab_member_kind *kind);

/*
 * Find one thing; `err` may be NULL, then nothing is spent on a sentence. ENOENT: no such
 * thing, the nearest name is suggested; EINVAL: ambiguous (candidates with GUIDs),
 * something else, or something without a cable where one is needed. O(len) and, with
 * `err`, O(names).
 */
int fab_resolve(const struct fab_resolver *r, enum fab_want want,
		const struct fab_item *name, uint32_t *id,
		struct fab_err *err) FAB_MUST_CHECK;
/* fab_resolve() of text that is not quoted. O(len). */
int fab_resolve_text(const struct fab_resolver *r, enum fab_want want, const char *text,
		     size_t len, uint32_t *id, struct fab_err *err) FAB_MUST_CHECK;

/* A place for the end of a cable, whether or not there is one. */
struct fab_socket {
	fab_node_id node;
	uint16_t port;
};
/* The port that SWITCH:PORT or HOST/PORT names, cabled or not, which the node need not
 * have. `err` may be NULL. ENOENT: no such node; EINVAL: ambiguous, or no port is named.
 * O(len) and, with `err`, O(names). */
int fab_resolve_socket(const struct fab_resolver *r, const struct fab_item *name,
		       struct fab_socket *out, struct fab_err *err) FAB_MUST_CHECK;
/* A switch or adapter, or (host not FAB_NONE) a host, whose adapters are meant. */
struct fab_node_ids {
	fab_node_id node;
	fab_host_id host;
};
/* The node or host of a name, with or without cables; errors as fab_resolve(). */
int fab_resolve_nodes(const struct fab_resolver *r, const struct fab_item *name,
		      struct fab_node_ids *out, struct fab_err *err) FAB_MUST_CHECK;

/*
 * For lists, host lists and patterns (base/lookup.h). A pattern is held against host
 * names; where it matches none, and adapters or switches are looked for, against theirs.
 * Of cables the pattern is SWITCH:PORT; where it matches no name that means the hosts or
 * adapters at the other ends. Valid as long as the resolver. O(1).
 */
struct fab_lookup fab_resolver_lookup(const struct fab_resolver *r, enum fab_want want);

/*
 * Where a host sends and receives: the first connected port of the first of its adapters
 * by name, so that hosts take the same rail whatever the order of the input; those on a
 * switch go before others. FAB_NONE without a cable. O(adapters of the host).
 */
uint32_t fab_host_endpoint(const struct fab_fabric *f, fab_host_id host);
