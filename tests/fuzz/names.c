/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names, lists, host lists and patterns on a small fabric with odd names: the first byte
 * says what is looked for, and whether the rest is a list, lines of lists or a pair.
 */
#include "fabric/resolver.h"
#include "small.h"

/* More names than this are not taken one by one. */
enum { MAX_NAMES = 100000 };

static uint32_t n_ids(const struct fab_fabric *f, enum fab_want want)
{
	return want == FAB_WANT_SWITCH	 ? f->n_switches
	       : want == FAB_WANT_HOST	 ? f->n_hosts
	       : want == FAB_WANT_CABLE	 ? f->n_cables
	       : want == FAB_WANT_MEMBER ? f->n_ports + f->n_nodes + f->n_hosts
					 : f->n_ports;
}

static void try_hostlist(const char *text, size_t n)
{
	FAB_AUTO(fab_hostlist_free_at) struct fab_hostlist *list = NULL;
	uint64_t count = 0;
	const char *name;

	if (is_refused(fab_hostlist_new(text, n, MAX_NAMES, &list, ERR)))
		return;
	while ((name = fab_hostlist_next(list))) {
		NEVER(fab_is_hostlist(name, strlen(name)) && !fab_is_hostlist(text, n));
		count++;
	}
	NEVER(count != fab_hostlist_count(list) || count > MAX_NAMES);
}

static void try_lookup(const struct fab_fabric *f, const struct fab_lookup *l,
		       enum fab_want want, bool is_file, const char *text, size_t n)
{
	FAB_AUTO(fab_matches_fini) struct fab_matches matches = {.with_names = true};
	struct fab_ids ids = {0};
	int rc = is_file ? fab_lookup_lines(l, "input", text, n, &ids, &matches, ERR)
			 : fab_lookup_list(l, text, n, &ids, &matches, ERR);

	NEVER(!is_refused(rc) && !ids.of.n);
	for (size_t i = 0; i < ids.of.n; i++)
		NEVER(ids.of.v[i] >= n_ids(f, want));
	for (size_t i = 0; i < matches.of.n; i++)
		NEVER(!matches.of.v[i].n && !rc);
	free(ids.of.v);
}

static void try_pair(const char *text, size_t n)
{
	struct fab_item pair[2];

	if (is_refused(fab_list_pair(text, n, " \t,", pair, ERR)))
		return;
	for (int i = 0; i < 2; i++)
		NEVER(pair[i].text < text || pair[i].text + pair[i].len > text + n ||
		      !pair[i].len);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct fab_resolver *r;
	struct fab_fabric *f = fuzz_small_fabric();
	FAB_AUTOFREE char *text = NULL;
	struct fab_lookup lookup;
	enum fab_want want;

	if (!n)
		return 0;
	r = r ? r : fab_resolver_new(f);
	want = (enum fab_want)(bytes[0] % FAB_N_WANTS);
	lookup = fab_resolver_lookup(r, want);
	text = fab_strndup((const char *)bytes + 1, n - 1);
	n = strlen(text);
	try_hostlist(text, n);
	try_pair(text, n);
	try_lookup(f, &lookup, want, bytes[0] & 0x80, text, n);
	return 0;
}
