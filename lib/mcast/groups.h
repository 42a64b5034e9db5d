/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups: named sets of endpoints, from files and patterns. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "fabric/resolver.h"

/*
 * Groups in compressed rows. An endpoint is a port: an adapter's with a cable to a
 * switch, or port 0 of a switch. A group names each endpoint once, in the order of the
 * input.
 *
 * Trees join switches, so that each group also has the list of the different switches of
 * its members, in order of first appearance; groups with the same list in the same order
 * point to the first of them by `same_as` (grids repeat lists a lot).
 */
struct fab_groups {
	uint32_t n;
	uint64_t *first;    /* [n + 1] into member */
	uint32_t *member;   /* port ids */
	uint64_t *sw_first; /* [n + 1] into sw */
	uint32_t *sw;	    /* switch ids */
	uint32_t
		*same_as; /* [n] lowest group with the same switches; itself when first */
	uint64_t *name_at; /* [n] offset into names */
	char *names;
	uint64_t n_unknown; /* members left out under ignore_unknown */
	uint64_t n_empty;   /* groups left out because no member was left */
};

/* NULL is allowed. O(groups + members). */
void fab_groups_free(struct fab_groups *g);
FAB_AUTO_POINTER(fab_groups)

/* Borrowed name of a group. O(1). */
static inline const char *fab_group_name(const struct fab_groups *g, uint32_t group)
{
	return g->names + g->name_at[group];
}

/* Number of endpoints / of switches of a group. O(1). */
static inline uint32_t fab_group_size(const struct fab_groups *g, uint32_t group)
{
	return (uint32_t)(g->first[group + 1] - g->first[group]);
}

/* Switches with members of the group, each counted once. O(1). */
static inline uint32_t fab_group_n_switches(const struct fab_groups *g, uint32_t group)
{
	return (uint32_t)(g->sw_first[group + 1] - g->sw_first[group]);
}

/* Collects groups from any number of files and patterns. */
struct fab_groups_builder;

/* `f` is borrowed until the builder ends. fab_groups_builder_new: O(1),
 * fab_groups_builder_free: O(size). */
struct fab_groups_builder *fab_groups_builder_new(const struct fab_fabric *f);
void fab_groups_builder_free(struct fab_groups_builder *b);
/* Start a group; `name` is copied. O(len). */
void fab_groups_builder_begin(struct fab_groups_builder *b, const char *name, size_t len);
/* Add an endpoint to the group begun last; one that is in it already is skipped. O(1). */
void fab_groups_builder_add(struct fab_groups_builder *b, fab_port_id endpoint);
/* Add an endpoint for what was named: any of its ports, on the plane of the
 * others. O(1). */
void fab_groups_builder_add_scope(struct fab_groups_builder *b, fab_port_id endpoint,
				  enum fab_member_kind scope);

/* Matches of host lists and patterns of the files, owned by the builder; the caller sets
 * them up, reads and empties them between files. O(1). */
struct fab_matches *fab_groups_builder_matches(struct fab_groups_builder *b);

/*
 * Frees the builder whatever happens. Fails with EINVAL when a group has no member
 * (unless skip_empty), when a member has no switch, when members of one group are on
 * several planes or other parts of the fabric (fabric/planes.h) and there is no plane on
 * which all could be, or when there is no group at all; the sentence names the group, two
 * members and their planes, and its file and line. O(members + ports).
 */
int fab_groups_builder_finish(struct fab_groups_builder *b, bool skip_empty,
			      struct fab_groups **out,
			      struct fab_err *err) FAB_MUST_CHECK;

/*
 * Read groups from text: a line a group, `NAME: MEMBER MEMBER ...`; a member is any
 * name of a switch, adapter or host (fabric/resolver.h), a host list, a pattern, or
 * several of these between commas; `#` starts a comment; names with blanks stand in
 * double quotes, and then are literal names. `file` is the name for messages. With
 * ignore_unknown members that do not exist are counted, else they are EINVAL `FILE:LINE:
 * group "x": ...`. A name, GUID or LID that several nodes share is EINVAL, and so is a
 * text without any group. A byte order mark at the beginning is skipped. The output of
 * saquery and opensm.mcfdbs (mcast/tables.h) are recognised by their first
 * line: then a group is called by its MLID. O(text + nodes), sorted formats O(text log
 * text).
 */
int fab_groups_read(struct fab_groups_builder *b, const char *file, const char *text,
		    size_t len, bool ignore_unknown, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Add the groups of a pattern (fabric-topologies(7), "Group patterns"):
 *   grid:AxBxC           every line of the grid along every axis, last axis fastest
 *   random:groups=N,size=K|K-L,seed=S
 *   tree:fanout=K        K neighbours a group, their first ones again K a group, ...
 * and after commas per=adapter|host (the first connected adapter of a host by name),
 * ppn=N, order=fabric|name|lid|random. `seed` serves where the pattern names none. EINVAL
 * with a sentence for a bad spec, when the pattern needs more processes than the fabric
 * has, or when it makes no group. O(endpoints log endpoints + members).
 */
int fab_groups_add_pattern(struct fab_groups_builder *b, const char *spec, uint64_t seed,
			   struct fab_err *err) FAB_MUST_CHECK;

/* Is the spec well-formed? Checked without a fabric; EINVAL with a sentence. O(spec). */
int fab_groups_check_pattern(const char *spec, struct fab_err *err) FAB_MUST_CHECK;
