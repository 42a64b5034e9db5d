/* SPDX-License-Identifier: BSD-2-Clause */
/* Images by node group. */
#pragma once

#include "base/arena.h"
#include "boot/machine.h"

struct fab_image {
	const char *nodes;	     /* the given list that it is for */
	const char *kernel, *initrd; /* NULL: as other nodes have it */
	uint64_t bytes;
};

/*
 * GROUP:SIZE[:KERNEL[,INITRD]]; the first text between colons that is a size ends GROUP.
 * Texts are in `memory`. EINVAL: there is none, or a text is empty. O(len^2).
 */
int fab_image_parse(const char *text, struct fab_arena *memory, struct fab_image *out,
		    struct fab_err *err) FAB_MUST_CHECK;

/*
 * The image of each node into image_of[n_nodes], FAB_NONE: it is in no group. GROUP is a
 * list of nodes and units (boot/impl.h); servers that a pattern matches, too, load
 * nothing. EINVAL: a node in two groups, a group without a node; ENOENT: an unknown name.
 * O(vertices + nodes of all groups).
 */
int fab_images_find(const struct fab_machine *m, const struct fab_image *images, size_t n,
		    uint32_t *image_of, struct fab_err *err) FAB_MUST_CHECK;

/* Bytes of a node's image; `bytes` of one in no group. O(1). */
static inline uint64_t fab_image_bytes(const struct fab_image *images, uint32_t image,
				       uint64_t bytes)
{
	return image == FAB_NONE ? bytes : images[image].bytes;
}

/*
 * Make images that are the same one: image_of gets the first group with this size, kernel
 * and initrd, FAB_NONE if they are those of nodes in no group, as `rest` has them.
 * O(nodes + n^2).
 */
void fab_images_merge(const struct fab_image *images, size_t n,
		      const struct fab_image *rest, uint32_t *image_of, uint32_t n_nodes);
