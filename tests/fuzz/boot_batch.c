/* SPDX-License-Identifier: BSD-2-Clause */
/* The first byte says whether a file, --boot, --sweep or (255) --image follows. */
#include "boot/batch.h"
#include "boot/images.h"
#include "boots.h"

/* Random subsets may be many: not more digits than this. */
enum { MAX_RANDOM_DIGITS = 3 };

static void check(const struct fab_machine *m, const struct fab_batch *b)
{
	NEVER(!b->n || b->n > m->n_nodes || !b->text);
	for (uint32_t i = 0; i < b->n; i++)
		NEVER(b->node[i] >= m->n_nodes || (i && b->node[i] <= b->node[i - 1]));
}

static void try_sweep(const struct fab_machine *m, const char *spec, uint8_t seed)
{
	FAB_AUTOFREE struct fab_batch *list = NULL;
	uint32_t n;

	if ((!strncmp(spec, "random:", 7) && strlen(spec) > 7 + MAX_RANDOM_DIGITS) ||
	    is_refused(fab_batch_sweep(m, *spec ? spec : NULL, seed, &list, &n, ERR)))
		return;
	NEVER(!n);
	for (uint32_t i = 0; i < n; i++) {
		check(m, &list[i]);
		NEVER(i && list[i].n < list[i - 1].n);
	}
	for (uint32_t i = 0; i < n; i++)
		fab_batch_fini(&list[i]);
}

static void try_image(const struct fab_machine *m, const char *text)
{
	FAB_AUTO(fab_arena_free) struct fab_arena memory = FAB_ARENA_INIT;
	FAB_AUTOFREE uint32_t *image_of = FAB_NEW((size_t)m->n_nodes + 1, uint32_t);
	struct fab_image image;
	uint32_t n = 0;

	if (is_refused(fab_image_parse(text, &memory, &image, ERR)))
		return;
	NEVER(!image.bytes || !*image.nodes || (image.initrd && !image.kernel));
	if (is_refused(fab_images_find(m, &image, 1, image_of, ERR)))
		return;
	for (uint32_t i = 0; i < m->n_nodes; i++)
		n += image_of[i] == 0;
	NEVER(!n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fab_machine *m = fuzz_small_machine();
	FAB_AUTO(fab_batch_fini) struct fab_batch b = {0};
	FAB_AUTOFREE char *spec = NULL;

	if (!n)
		return 0;
	spec = fab_strndup((const char *)bytes + 1, n - 1);
	if (*bytes == 255)
		try_image(m, spec);
	else if (*bytes % 3 == 2)
		try_sweep(m, spec, *bytes);
	else if (!is_refused(*bytes % 3
				     ? fab_batch_parse(m, spec, &b, ERR)
				     : fab_batch_read(m, "input", (const char *)bytes + 1,
						      n - 1, &b, ERR)))
		check(m, &b);
	return 0;
}
