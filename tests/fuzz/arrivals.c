/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrivals at a window: the first two bytes are its width, the rest the list. What the
 * window says is what a plain count of what has arrived says.
 */
#include "fuzz.h"
#include "rdma/context.h"

enum { PLAIN_MAX = 1 << 16 };

/* Numbers up to PLAIN_MAX by a plain set. */
static void try_all(uint32_t width, const struct fab_rdma_arrivals *list)
{
	static bool has[PLAIN_MAX + FAB_RDMA_WINDOW_MAX + 2];
	struct fab_rdma_window w;
	uint32_t base = 0;

	memset(has, 0, sizeof(has));
	fab_rdma_window_init(&w, width, FAB_NEW(fab_rdma_window_words(width), uint64_t));
	for (size_t i = 0; i < list->number.n && base < PLAIN_MAX; i++) {
		uint32_t n = list->number.v[i];
		enum fab_rdma_arrival want = n < base ? FAB_RDMA_DUPLICATE
					     : n > (uint64_t)base + width
						     ? FAB_RDMA_BEYOND
					     : has[n] ? FAB_RDMA_DUPLICATE
						      : FAB_RDMA_PLACED;

		NEVER(fab_rdma_window_take(&w, n) != want);
		if (want == FAB_RDMA_PLACED)
			has[n] = true;
		while (has[base] && base < PLAIN_MAX)
			base++;
		NEVER(base < PLAIN_MAX && w.base != base);
	}
	free(w.ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fab_rdma_arrivals list = {{0}};
	FAB_AUTOFREE char *text = NULL;

	if (n < 3)
		return 0;
	text = fab_strndup((const char *)bytes + 2, n - 2);
	if (!is_refused(fab_rdma_arrivals_parse(text, &list, ERR)))
		try_all(1 + (bytes[0] | (uint32_t)bytes[1] << 8) % FAB_RDMA_WINDOW_MAX,
			&list);
	free(list.number.v);
	return 0;
}
