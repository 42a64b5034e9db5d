/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cabling plans: devices and cables by name, as people plan them before the machine
 * exists. The readers (cabling_csv.c, cabling_topo.c) collect cables from one or several
 * files; the build makes nodes of the devices, gives them GUIDs (from the name) and LIDs.
 */
#pragma once

#include "source/reader.h"

struct fab_map64;
struct fab_strmap;

struct fab_cabling_device {
	const char *name; /* as first spelled; in the arena */
	uint32_t n_cables;
	uint16_t last_port, n_ports; /* highest cabled port; 0: unknown number of ports */
	bool is_kind_known;
	enum fab_node_kind kind;
	uint16_t board, chip; /* board of a director, from 1, and chip on it; 0: none */
	uint32_t chassis;     /* first device of the same director, with a board */
	uint64_t line;
};

struct fab_cabling_end {
	uint32_t device;
	uint16_t port;
};

struct fab_cabling_cable {
	struct fab_cabling_end a, b;
	uint32_t file;
	uint64_t line;
};

struct fab_cabling {
	struct fab_arena arena;
	FAB_VEC(const char *) files; /* names for messages; the last one is being read */
	FAB_VEC(struct fab_cabling_device) devices;
	FAB_VEC(struct fab_cabling_cable) cables;
	struct fab_strmap *by_name; /* lower case, behind it "\n" for a chassis */
	struct fab_map64 *by_end;   /* device << 16 | port: cable */
};

void fab_cabling_init(struct fab_cabling *c);
void fab_cabling_fini(struct fab_cabling *c);

/* The device of this name, case and outer blanks ignored; a new one is of unknown
 * kind. The index stays valid. O(len). */
uint32_t fab_cabling_device(struct fab_cabling *c, const char *name, size_t len,
			    uint64_t line);

/* Chip `chip` of board `board` of a director: the device NAME/L<board>/U<chip>. */
uint32_t fab_cabling_module(struct fab_cabling *c, const char *name, size_t len,
			    uint16_t board, uint16_t chip, uint64_t line);

/* Add a cable. One that is there already, from whichever end, is not added again. EINVAL:
 * a port of it has another cable (both lines are named), or is both its ends. O(1). */
int fab_cabling_add(struct fab_cabling *c, struct fab_cabling_end a,
		    struct fab_cabling_end b, uint64_t line,
		    struct fab_err *err) FAB_MUST_CHECK;

/*
 * Hand all devices and cables to a builder. A device of unknown kind is an adapter if it
 * has one cable, where no kind is an adapter one or two, at ports 1 and 2,
 * each to a device with more cables; else it is a switch. Directors of which only boards
 * 1-20 with ports 1-20 of chips 1 and 2 are named are completed as an MCS8500 (CS8500) is
 * inside: port 20 + s of each chip is joined to spine module s. Warnings:
 * chassis-assumed, chassis-unknown, lids-exhausted. EINVAL: no cable. O(devices +
 * cables).
 */
int fab_cabling_build(struct fab_cabling *c, struct fab_builder *b,
		      struct fab_err *err) FAB_MUST_CHECK;

/* Add the lines of one more CSV file. */
int fab_cabling_csv_add(struct fab_cabling *c, const char *name, const char *text,
			size_t n, struct fab_err *err) FAB_MUST_CHECK;
