/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tools of the families of generated fabrics: switches, hosts and cables over the
 * builder, with one rule for names, GUIDs and LIDs.
 *
 * A family announces its size, adds all its switches (leaf switches first, then level by
 * level), then its hosts leaf by leaf, and the cables in any order.
 *
 *   switch i      GUID 0x02fab00000000001 + i, also its system image and port GUID
 *   adapter k     GUID 0x02fab10000000010 + 16 k, its port that + 1; system image GUID is
 *                 the GUID of the first adapter of its host
 *   LIDs          1, 2, ... switches first, then adapters; none after 49151
 *   descriptions  PREFIX + the family's name of a switch; "PREFIXhI HCA-R" for adapter R
 *                 (from 1) of host I (from 0)
 */
#pragma once

#include "base/err.h"
#include "fabric/builder.h"

enum {
	FAB_GEN_PORTS_MAX = 65534,    /* of one switch */
	FAB_GEN_NODES_MAX = 1 << 26,  /* switches and adapters: 2^32 bytes of names */
	FAB_GEN_CABLES_MAX = 1 << 30, /* = 2^31 ports */
	FAB_GEN_PREFIX_MAX = 24,
	FAB_GEN_NAME_MAX = 96,
};

struct fab_gen_net {
	struct fab_builder *builder;
	const struct fab_gen_family *family;
	const char *kind; /* name of the family, for messages */
	char name[FAB_GEN_PREFIX_MAX + FAB_GEN_NAME_MAX]; /* of a node */
	size_t prefix_len;				  /* all names begin so */
	uint8_t width, speed;
	uint32_t n_switches, n_adapters, n_hosts;
	uint64_t host_guid; /* system image GUID of the newest host */
	uint32_t rail;	    /* adapters that the newest host has */
};

/* How large a fabric is going to be. The products are made with fab_gen_mul(). */
struct fab_gen_size {
	uint64_t switches, adapters, cables;
	uint64_t ports; /* of the largest switch */
};

/* Product and sum that stop at UINT64_MAX. */
uint64_t fab_gen_mul(uint64_t a, uint64_t b);
uint64_t fab_gen_add(uint64_t a, uint64_t b);

/*
 * EINVAL when the fabric is larger than the limits above, ENOMEM when it would take more
 * memory than the process may have; the sentence says how much.
 */
int fab_gen_check_size(const struct fab_gen_net *net, const struct fab_gen_size *size,
		       struct fab_err *err) FAB_MUST_CHECK;

/* Add a switch named PREFIX + format; returns its number (0, 1, ... in order). O(1). */
uint32_t fab_gen_switch(struct fab_gen_net *net, uint32_t n_ports, const char *format,
			...) FAB_PRINTF(3, 4);

/* The next fab_gen_adapter() begins a new host. */
void fab_gen_host(struct fab_gen_net *net);
/* Add an adapter of one port to the newest host and cable it to a port of a switch. */
void fab_gen_adapter(struct fab_gen_net *net, uint32_t sw, uint32_t port);
/* `n` hosts of one adapter on ports 1 .. n of a switch. */
void fab_gen_hosts(struct fab_gen_net *net, uint32_t sw, uint32_t n);

/* A cable between two switches. */
void fab_gen_cable(struct fab_gen_net *net, uint32_t a, uint32_t port_a, uint32_t b,
		   uint32_t port_b);

/*
 * Coordinates of node `index` of a grid, the last axis fastest: v[0 .. n-1]; and as text
 * "3.7". `skip` (an axis, or FAB_NONE) stands as "x". Returns `text`.
 */
void fab_gen_coords(uint32_t index, const uint32_t *dims, uint32_t n, uint32_t *v);
const char *fab_gen_coords_text(const uint32_t *v, uint32_t n, uint32_t skip,
				char text[FAB_GEN_NAME_MAX]);

/* ---- the grammar of specs: KIND:key=value,... against a table of keys ---- */

enum {
	FAB_GEN_LIST_MAX = 16, /* dimensions, levels */
	FAB_GEN_KEYS_MAX = 12, /* keys of a family, the common ones included */
};

enum fab_gen_type {
	FAB_GEN_NUMBER, /* .number */
	FAB_GEN_LIST,	/* .list, numbers separated by fab_gen_key.separator */
	FAB_GEN_WORD,	/* .word */
	FAB_GEN_CHOICE, /* .number: place in fab_gen_key.words */
};

/* One key of a family. Numbers, also those in lists, must lie in min .. max. */
struct fab_gen_key {
	const char *name;
	enum fab_gen_type type;
	char separator;
	bool is_required;
	uint64_t min, max;
	uint64_t fallback;	  /* of a number that is not required */
	const char *const *words; /* of a choice, up to the NULL; the help lists them */
	const char *help;	  /* what the value is, a noun phrase */
};

struct fab_gen_value {
	bool is_given;
	uint64_t number;
	struct {
		uint32_t n;
		uint32_t v[FAB_GEN_LIST_MAX];
	} list;
	const char *word; /* word_len bytes of the spec, borrowed */
	size_t word_len;
};

/*
 * A family of fabrics. `build` gets the values in the order of `keys`, checks what the
 * table cannot say, and fills the net.
 */
struct fab_gen_family {
	const char *name;
	const struct fab_gen_key *keys;
	size_t n_keys;
	int (*build)(struct fab_gen_net *net, const struct fab_gen_value *values,
		     struct fab_err *err);
};

/* A family has a file and a row in gen.c. */
extern const struct fab_gen_family fab_gen_fattree;
extern const struct fab_gen_family fab_gen_pgft;
extern const struct fab_gen_family fab_gen_torus;
extern const struct fab_gen_family fab_gen_mesh;
extern const struct fab_gen_family fab_gen_dragonfly;
extern const struct fab_gen_family fab_gen_kfat;
extern const struct fab_gen_family fab_gen_hyperx;
extern const struct fab_gen_family fab_gen_random;
extern const struct fab_gen_family fab_gen_bluelight;
extern const struct fab_gen_family fab_gen_taihulight;
