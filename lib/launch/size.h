/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes that the PMIx server of a node contributes to a fence that collects data: exact,
 * as libpmix 4.2.2 packs them (src/server/pmix_server_ops.c, _collect_data()) and as
 * version 2.1.4 did (pmix_server_fence() there). All processes put the same keys, whose
 * values are byte objects, in one namespace.
 *
 *   contribution  one byte object: what follows
 *     info        one byte
 *     key table   number of keys, their names; with FAB_SIZE_KEYINDEX, where it pays
 *     processes   a byte object each: process id, then each key and its value
 *
 * Every packed list begins with the number of its values.
 */
#pragma once

#include <stdbool.h>

#include "base/choice.h"
#include "base/err.h"
#include "base/mem.h"

/* Optimisations after version 2.1, each a switch. */
enum {
	FAB_SIZE_ADDR = 1, /* addresses of UCX of 51 bytes take 21 */
	FAB_SIZE_PROCID =
		2, /* a process is its rank in the job, not namespace and rank */
	FAB_SIZE_KEYINDEX = 4, /* names of keys once a node, then their index */
	FAB_SIZE_LEB128 = 8,   /* integers in base 128, not 4 or 8 bytes */
	FAB_SIZE_LIBRARY = FAB_SIZE_PROCID | FAB_SIZE_KEYINDEX | FAB_SIZE_LEB128,
	FAB_SIZE_ALL = FAB_SIZE_ADDR | FAB_SIZE_LIBRARY,
};
enum { FAB_SIZE_N_OPTS = 4 };
/* The bits by name, row i for bit 1 << i: "addr", "procid", "keyindex", "leb128". */
extern const struct fab_choices fab_size_opts;

/* Layouts by the version of the library, and the switches that are on in it: "2.1" has
 * none, "4.2" has FAB_SIZE_LIBRARY (an address is as short as UCX makes it). */
enum fab_size_version { FAB_SIZE_2_1, FAB_SIZE_4_2 };
extern const struct fab_choices fab_size_layouts;
unsigned fab_size_version_opts(enum fab_size_version version);

enum {
	FAB_KEY_MAX_CHARS = 511,    /* PMIX_MAX_KEYLEN */
	FAB_KEYS_MAX = 1 << 20,	    /* a process */
	FAB_NAMESPACE_MAX = 255,    /* PMIX_MAX_NSLEN */
	FAB_SIZE_MAX_PPN = 1 << 16, /* processes a node */
	FAB_SIZE_OLD_ADDRESS = 51,  /* bytes of an address of UCX, before */
	FAB_SIZE_NEW_ADDRESS = 21,  /* and after */
};
/* Values of a process, together. */
#define FAB_PUT_MAX_BYTES ((uint64_t)1 << 31)

/* Processes that read a key: the scopes of PMIx, and the node level of PMI-2, whose keys
 * one process of a node puts. Only keys of global and remote scope enter a fence. */
enum fab_key_scope {
	FAB_SCOPE_GLOBAL,
	FAB_SCOPE_REMOTE,
	FAB_SCOPE_NODE,
	FAB_SCOPE_PROCESS,
	FAB_SCOPE_NODE_LEVEL,
};
extern const struct fab_choices fab_key_scopes;

/* `count` keys, each of `chars` characters and a value of `bytes`. */
struct fab_put {
	uint32_t chars, count;
	uint64_t bytes;
	enum fab_key_scope scope;
};
static inline bool fab_put_is_exchanged(const struct fab_put *put)
{
	return put->scope <= FAB_SCOPE_REMOTE;
}

/* Keys that a process puts, in this order. */
struct fab_puts {
	FAB_VEC(struct fab_put) of;
};

/* LENGTH:BYTES[:COUNT][:SCOPE], separated by commas. EINVAL: no such list, a key longer
 * than FAB_KEY_MAX_CHARS, more keys of a length than there are names of printable
 * characters, too many keys or bytes. The caller frees out->of.v, also after an error.
 * O(len). */
int fab_puts_parse(const char *text, struct fab_puts *out,
		   struct fab_err *err) FAB_MUST_CHECK;
/* The entries that enter a fence, into `out`, which is empty. The caller frees out->of.v.
 * O(entries). */
void fab_puts_exchanged(const struct fab_puts *puts, struct fab_puts *out);
/* Keys of a process, and bytes of their values when put. O(entries). */
uint64_t fab_puts_keys(const struct fab_puts *puts);
uint64_t fab_puts_bytes(const struct fab_puts *puts);

/* Layout of the packed bytes. */
struct fab_size_layout {
	unsigned opts;		  /* FAB_SIZE_... */
	uint32_t namespace_chars; /* without FAB_SIZE_PROCID: of the namespace's name */
};

/*
 * Bytes of the contribution of a node whose processes have the ranks first_rank ..
 * first_rank + ppn - 1 in the job; ppn at least 1. 0: no keys. Scopes are not considered.
 * O(entries).
 */
uint64_t fab_size_node(const struct fab_puts *puts, const struct fab_size_layout *layout,
		       uint32_t first_rank, uint32_t ppn);
/* Does fab_size_node() write a table of the keys? The library counts what the last key
 * of the table would cost and decides by that one for all. O(entries). */
bool fab_size_has_table(const struct fab_puts *puts, const struct fab_size_layout *layout,
			uint32_t ppn);
/* Of n_nodes such nodes together, the first of which begins with rank 0; nodes * ppn at
 * most 2^32. O(entries + nodes). */
uint64_t fab_size_job(const struct fab_puts *puts, const struct fab_size_layout *layout,
		      uint32_t n_nodes, uint32_t ppn);

/*
 * The second computation: the bytes themselves, with invented names and values. On the
 * heap, the caller frees; *n is their number. O(bytes).
 */
unsigned char *fab_size_encode(const struct fab_puts *puts,
			       const struct fab_size_layout *layout, uint32_t first_rank,
			       uint32_t ppn, size_t *n) FAB_MUST_CHECK;
/* The invented name of key number `i` (from 0) of a process, into
 * `out`, of FAB_KEY_MAX_CHARS + 1 bytes; its value is FAB_SIZE_FILLER only. Returns its
 * entry. O(entries). */
const struct fab_put *fab_puts_name(const struct fab_puts *puts, uint64_t i, char *out);
enum { FAB_SIZE_FILLER = 0xee };
