/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/images.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "boot/impl.h"

enum { SHOWN = 60 };

int fab_image_parse(const char *text, struct fab_arena *memory, struct fab_image *out,
		    struct fab_err *err)
{
	const char *size = text, *rest, *comma;
	size_t n = 0;

	*out = (struct fab_image){0};
	do {
		size += strcspn(size, ":");
		size += *size != 0;
		n = strcspn(size, ":");
	} while (*size && fab_parse_size_bytes(size, n, &out->bytes, NULL));
	rest = size + n + (size[n] != 0);
	comma = strchr(rest, ',');
	if (!*size || size == text + 1 || (size[n] && !*rest) ||
	    (comma && (comma == rest || !comma[1])))
		return fab_fail(
			err, EINVAL,
			"'%.*s': expected GROUP:SIZE[:KERNEL[,INITRD]] with a SIZE from 1 byte to 1 PiB, as login*:4GB:http://{server}/login/vmlinuz",
			SHOWN, text);
	out->nodes = fab_arena_format(memory, "%.*s", (int)(size - text - 1), text);
	if (*rest)
		out->kernel = fab_arena_format(
			memory, "%.*s",
			(int)(comma ? (size_t)(comma - rest) : strlen(rest)), rest);
	if (comma)
		out->initrd = fab_arena_strdup(memory, comma + 1);
	return 0;
}

struct finding {
	const struct fab_machine *m;
	const struct fab_image *images;
	uint32_t *image_of;
	uint32_t at, n_nodes;
};

static int put(void *context, bool is_node, uint32_t id, struct fab_err *err)
{
	struct finding *x = context;
	char name[FAB_MACHINE_NAME_BYTES];

	if (!is_node)
		return 0;
	x->n_nodes++;
	if (x->image_of[id] != FAB_NONE && x->image_of[id] != x->at)
		return fab_fail(err, EINVAL, "'%.80s' is in '%.*s' and in '%.*s'",
				fab_machine_node_name(x->m, id, name), SHOWN,
				x->images[x->image_of[id]].nodes, SHOWN,
				x->images[x->at].nodes);
	x->image_of[id] = x->at;
	return 0;
}

int fab_images_find(const struct fab_machine *m, const struct fab_image *images, size_t n,
		    uint32_t *image_of, struct fab_err *err)
{
	FAB_AUTO(fab_places_free_at) struct fab_places *places = fab_places_new(m);
	struct finding x = {.m = m, .images = images, .image_of = image_of};
	int rc = 0;

	memset(image_of, 0xff, m->n_nodes * sizeof(*image_of));
	for (; x.at < n && !rc; x.at++) {
		const char *nodes = images[x.at].nodes;

		x.n_nodes = 0;
		rc = fab_places_each(places, nodes, strlen(nodes), put, &x, err);
		if (!rc && !x.n_nodes)
			rc = fab_fail(
				err, EINVAL,
				"'%.*s' is no node that boots: servers load no image",
				SHOWN, nodes);
	}
	return rc;
}

static bool are_texts_equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_equal(const struct fab_image *a, const struct fab_image *b)
{
	return a->bytes == b->bytes && are_texts_equal(a->kernel, b->kernel) &&
	       are_texts_equal(a->initrd, b->initrd);
}

void fab_images_merge(const struct fab_image *images, size_t n,
		      const struct fab_image *rest, uint32_t *image_of, uint32_t n_nodes)
{
	FAB_AUTOFREE uint32_t *first = FAB_NEW(n + 1, uint32_t);

	for (size_t i = 0; i < n; i++) {
		struct fab_image own = images[i];

		own.kernel = own.kernel ? own.kernel : rest->kernel;
		own.initrd = own.initrd ? own.initrd : rest->initrd;
		first[i] = (uint32_t)i;
		for (size_t k = 0; k < i && first[i] == i; k++)
			if (is_equal(&images[i], &images[k]))
				first[i] = first[k];
		if (is_equal(&own, rest))
			first[i] = FAB_NONE;
	}
	for (uint32_t i = 0; i < n_nodes; i++)
		if (image_of[i] != FAB_NONE)
			image_of[i] = first[image_of[i]];
}
