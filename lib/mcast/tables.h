/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast forwarding tables as OpenSM writes them to opensm.mcfdbs: for each switch and
 * multicast LID the ports that a packet leaves by.
 *
 *   Switch 0x0002c90200000001
 *   LID    : Out Port(s)
 *   0xC000 : 0x001  0x00F
 *
 * All numbers are hexadecimal, switches are named by their node GUID, port 0 is the
 * switch itself.
 */
#pragma once

#include "base/mem.h"
#include "mcast/groups.h"
#include "mcast/weights.h"

enum { FAB_MLID_FIRST = 0xc000, FAB_MLID_LAST = 0xfffe, FAB_MLID_TEXT = 8 };

/* Entries in compressed rows: a row an MLID, ascending; in it by switch, then port. */
struct fab_mft {
	uint32_t n;	 /* MLIDs with an entry */
	uint16_t *mlid;	 /* [n] ascending */
	uint64_t *first; /* [n + 1] into sw, num, port */
	uint32_t *sw;	 /* switch ids */
	uint16_t *num;	 /* port numbers */
	uint32_t *port;	 /* port ids; FAB_NONE: nothing is known of the port */
	uint64_t n_unknown_switches; /* left out under ignore_unknown */
};

/* Does the text begin like such a file? O(first lines). */
bool fab_is_mcfdbs(const char *text, size_t len);

/*
 * Read tables of the switches of `f`; `file` is the name for messages. A switch that is
 * not in the fabric is EINVAL, or with ignore_unknown counted and left out; so are EINVAL
 * an MLID outside 0xc000 .. 0xfffe, a port that the switch does not have, a line of
 * another kind, a text that ends within a line and one without any switch. A switch or an
 * MLID may come again: the ports add up. The caller frees *out with fab_mft_free(). O(n
 * log n) for n bytes.
 */
int fab_mcfdbs_read(const struct fab_fabric *f, const char *file, const char *text,
		    size_t len, bool ignore_unknown, struct fab_mft **out,
		    struct fab_err *err) FAB_MUST_CHECK;
void fab_mft_free(struct fab_mft *mft);

/* Row of an MLID, FAB_NONE when it has no entry. O(log n). */
uint32_t fab_mft_find(const struct fab_mft *mft, uint16_t mlid);

/* uses[n]: is the tree of the MLID on the cable? Returns how many are. O(entries). */
uint32_t fab_mft_users(const struct fab_fabric *f, const struct fab_mft *mft,
		       uint32_t cable, bool *uses);

/*
 * Add a group for each MLID that no group of the builder is named by yet: called 0xc000
 * and so on, its members are the adapters and routers that ports lead to, and switches
 * with port 0. An MLID without any member is left out (senders that receive nothing have
 * such a tree). O(entries + groups).
 */
void fab_groups_add_mft(struct fab_groups_builder *b, const struct fab_mft *mft);

/* "0xc000" .. "0xfffe", hexadecimal in any case: the MLID; 0: another text. O(1). */
uint16_t fab_mlid_parse(const char *text, size_t len);
/* Writes "0x%04x" and returns `out`, [FAB_MLID_TEXT]. O(1). */
char *fab_mlid_text(uint16_t mlid, char *out);

/*
 * The MLID of every group: its name must be one, each only once, else EINVAL with the
 * group's name. mlid: [groups->n]. O(groups).
 */
int fab_groups_mlids(const struct fab_groups *groups, uint16_t *mlid,
		     struct fab_err *err) FAB_MUST_CHECK;

/*
 * An MLID for every group, into mlid: [groups->n]: its name when every name is one and
 * none comes twice (groups out of tables or saquery), else 0xc000, 0xc001 and so on in
 * their order. ERANGE when there are more groups than MLIDs. O(groups).
 */
int fab_groups_give_mlids(const struct fab_groups *groups, uint16_t *mlid,
			  struct fab_err *err) FAB_MUST_CHECK;

/*
 * Results of programmed multicast tables: loads, heights, and what is wrong with
 * them. The tables need not be trees, so that nothing here rests on struct fab_forest.
 */

enum fab_broken_kind {
	FAB_BROKEN_LOOP,      /* `count` cables more than a tree has: packets multiply */
	FAB_BROKEN_CUT_OFF,   /* `count` members out of reach of the largest part */
	FAB_BROKEN_ONE_SIDED, /* `count` ports to a switch that has no port back */
	FAB_BROKEN_NO_CABLE,  /* `count` ports without a cable */
	FAB_N_BROKEN_KINDS,
};

/* One kind of fault of one group; sw and port say where the first of them is. */
struct fab_broken {
	uint32_t group;
	enum fab_broken_kind kind;
	uint32_t count;
	uint32_t sw;
	uint16_t port;
};

struct fab_loaded {
	uint32_t *load;	     /* [n_switch_links] groups that leave by either end */
	double *weighted;    /* [n_switch_links] weighted loads; NULL without weights */
	uint32_t max_height; /* of the groups without a fault, switch hops */
	uint32_t n_broken;   /* groups with a fault */
	FAB_VEC(struct fab_broken) broken; /* by group, then kind */
};

/*
 * Follow the tables of each group (mlid[group], as above). A cable between switches
 * belongs to a group when the port at either end is in its tables. A member is reached
 * when the port of its switch that leads to it (port 0 for a switch) is in the table;
 * groups of fewer than two members need nothing. The height is the least over all
 * switches of the most hops, along the group's cables, to a member's switch: that of an
 * engine's tree when the tables hold one. `weights` may be NULL. *out needs
 * fab_loaded_fini(). O(entries + members + switches + ports).
 */
void fab_loaded_of(const struct fab_fabric *f, const struct fab_groups *groups,
		   const uint16_t *mlid, const struct fab_mft *mft,
		   const struct fab_weights *weights, struct fab_loaded *out);
void fab_loaded_fini(struct fab_loaded *loaded);

/* "loop", "cut-off", "one-sided", "no-cable". O(1). */
const char *fab_broken_name(enum fab_broken_kind kind);
