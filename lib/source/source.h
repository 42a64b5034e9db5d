/* SPDX-License-Identifier: BSD-2-Clause */
/* Where fabrics come from: the FABRIC argument of every command. */
#pragma once

#include "base/err.h"
#include "fabric/fabric.h"

struct fab_source_options {
	const char *node_name_map; /* path, NULL none */
	const char *hca;	   /* "GLOB" or "GLOB/PORT" that chooses adapters and with
				      them a rail, NULL all */
	const char *subnet;	  /* path of a description to take LIDs from, NULL none */
	const char *const *edits; /* [n_edits] files or texts of fabric/edit.h */
	size_t n_edits;
};

/*
 * Read, generate or discover a fabric:
 *   PATH or "-"           a file or standard input, recognised by content: ibnetdiscover
 *                         dump or port list, ibsim net file, libibnetdisc cache,
 *                         opensm-subnet.lst, cabling plan; gzip and zstd are unpacked
 *   PATH,PATH...          cabling plans as CSV in several files, if no file has that name
 *   gen:KIND:PARAMS       generated (fabric-topologies(7))
 *   ib: ib:CA ib:CA/PORT  discovered live
 * `options` may be NULL. The caller frees *out. EINVAL: input, spec or edit, with file
 * and line; errors of open(2); ENODEV: no adapter; ENOTSUP: no live discovery. O(input).
 */
int fab_source_open(const char *spec, const struct fab_source_options *options,
		    struct fab_fabric **out, struct fab_err *err) FAB_MUST_CHECK;

/* Kinds of generated fabrics between blanks, or with a kind its keys; "": there is no
 * such kind. On the heap. O(kinds). */
char *fab_gen_words(const char *kind, size_t len);

/* fab_source_open() of the bytes of a file in memory; `name` begins messages. O(len). */
int fab_source_parse(const char *name, const void *bytes, size_t n,
		     const struct fab_source_options *options, struct fab_fabric **out,
		     struct fab_err *err) FAB_MUST_CHECK;
