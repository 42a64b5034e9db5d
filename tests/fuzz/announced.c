/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of announced groups, up to a NUL; the bytes after it are what becomes of the
 * groups: members that come and go under numbers, trees that are held, time that passes,
 * the file once more.
 */
#include "opensm/announced.h"
#include "fuzz.h"

enum { N_GROUPS = 4 };

static void event(struct fab_announced *a, const struct fab_announcements *list,
		  const uint8_t *e, double now)
{
	static const uint64_t guid[] = {1, 2, 3, 3, 4, 5, 6, 7};
	const struct fab_mgid mgid = {{0xff, 0x12, [15] = e[0] >> 4 & 3}};
	uint32_t number[N_GROUPS];
	struct fab_announced_group g = {.number = e[0] & 3,
					.mgid = e[0] & 64 ? NULL : &mgid,
					.guid = guid,
					.n = e[1] & 7,
					.has_tree = e[0] & 128,
					.pass = (uint64_t)now};
	struct fab_announced_order o = fab_announced_decide(a, &g, now);

	NEVER(o.tree == FAB_ANNOUNCED_HELD ? !o.n : o.n || o.is_first);
	NEVER(!g.n && fab_announced_is_active(a, g.number));
	if (e[1] & 8)
		fab_announced_note_held(a, g.number, g.pass + 1, now);
	NEVER(e[1] & 16 && fab_announced_expire(a, now, number) > N_GROUPS);
	NEVER(fab_announced_computing(a, g.pass, N_GROUPS, number) >
	      fab_announced_n_active(a));
	if (e[1] & 32)
		fab_announced_take(a, list);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	size_t len = strnlen((const char *)bytes, n), shown = 0;
	FAB_AUTOFREE char *text = fab_strndup((const char *)bytes, len);
	FAB_AUTO(fuzz_file_fini) struct fuzz_file file = {0};
	struct fab_announcements *list;
	struct fab_announced *a;

	if (is_refused_at(fab_announcements_parse("input", text, &list, ERR)))
		return 0;
	a = fab_announced_new(N_GROUPS);
	fab_announced_take(a, list);
	for (size_t i = len + 1; i + 1 < n; i += 2)
		event(a, list, bytes + i, (double)i);
	fuzz_open(&file);
	do
		shown = fab_announced_print(a, shown, 2, 0, file.out);
	while (shown);
	fclose(file.out);
	for (uint32_t g = 0; g < N_GROUPS; g++)
		fab_announced_decide(a, &(struct fab_announced_group){.number = g}, 1e9);
	NEVER(fab_announced_n_active(a) || fab_announced_is_computing(a));
	fab_announced_free(a);
	fab_announcements_free(list);
	return 0;
}
