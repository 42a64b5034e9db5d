/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Planned changes of a fabric: cables that are moved, added and removed, as people write
 * them. A text holds edits between `;`, of a file also between line ends:
 *
 *   move END NEW-END         the end of a cable at END is plugged in at NEW-END instead
 *   drain SWITCH             all its cables to other switches are taken out
 *   add END END [RATE]       a new cable; RATE as 4xHDR, else that of a cable of the
 * first end's node, else of the second's, else unknown remove END               the cable
 * there is taken out remove NODE              a switch, adapter or host with all its
 * cables speed END RATE           the cable there gets this width and speed
 *
 * END is SWITCH:PORT or HOST/PORT, names are those of fabric/resolver.h; what has blanks
 * is in "" with the port behind it: "n1 HCA-1"/1. Edits are applied in their order, so
 * that a port that one of them frees is free for the next. A name means the node that
 * had it before the first edit.
 */
#pragma once

#include "fabric/builder.h"
#include "fabric/resolver.h"

struct fab_editor;

/* No edit yet; the fabric is borrowed. The caller frees. O(ports). */
struct fab_editor *fab_editor_new(const struct fab_fabric *f);
/* NULL is allowed. O(size). */
void fab_editor_free(struct fab_editor *e);

/*
 * Apply the edits of one line. EINVAL, ENOENT: no edit, an unknown name, a port that is
 * taken or absent (with the free ones of the node), or an edit without effect; the
 * sentence begins with the edit, those before it are applied. O(len + names), of a taken
 * port O(ports of the node).
 */
int fab_editor_add(struct fab_editor *e, const char *text, size_t len,
		   struct fab_err *err) FAB_MUST_CHECK;
/* The lines of a file; # begins a comment. EINVAL, ENOENT: the sentence begins with
 * FILE:LINE; EINVAL: there is no edit. O(len + edits * names). */
int fab_editor_add_lines(struct fab_editor *e, const char *file, const char *text,
			 size_t len, struct fab_err *err) FAB_MUST_CHECK;
/* How many edits were applied. O(1). */
uint32_t fab_editor_count(const struct fab_editor *e);

/*
 * The changed fabric: GUIDs, LIDs, names and port numbers stay, the source says how many
 * edits there were. Switches stay without a cable; adapters, aggregation nodes and
 * routers whose last cable was taken leave, as no sweep would find them. Hosts are
 * grouped by `hosts` (NULL: by descriptions), whose pattern must be NULL. The caller
 * frees *out. EINVAL: no cable of a switch is left. O(nodes + cables).
 */
int fab_editor_finish(const struct fab_editor *e, const struct fab_host_options *hosts,
		      struct fab_fabric **out, struct fab_err *err) FAB_MUST_CHECK;

/*
 * A port of a switch as edits and shells take it, with the shortest name that means no
 * other: `leaf7:40`, `"MF0;leaf 7:MQM8700/U1":40`, `0x0002c90200417670:40`. The resolver
 * is that of the fabric. On the heap. O(name).
 */
char *fab_editor_end_text(const struct fab_fabric *f, const struct fab_resolver *r,
			  struct fab_socket end);
