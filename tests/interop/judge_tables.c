/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: judge-tables FABRIC LFTS hosts|adapters
 * Judge forwarding tables. Printed: "judged" and pairs, unreachable pairs, channels in
 * cycles, pairs on cycles, valley pairs; then a line a pair of switches with "valley" or
 * "unreached", the names of both, and pairs, tabs between.
 */
#include "source/source.h"
#include "unicast/judge.h"
#include "unicast/lfts.h"

#include <stdio.h>
#include <string.h>

static void put(const struct fab_fabric *f, const char *what,
		const struct fab_pair_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		printf("%s\t%s\t%s\t%llu\n", what, fab_node_name(f, list->v[i].from),
		       fab_node_name(f, list->v[i].to),
		       (unsigned long long)list->v[i].pairs);
}

int main(int argc, char **argv)
{
	struct fab_judge_options options = {.ends = FAB_ENDS_HOSTS};
	struct fab_fabric *f = NULL;
	struct fab_routes *r = NULL;
	struct fab_judgement j;
	struct fab_err err = {""};
	int rc;

	if (argc != 4)
		return 2;
	if (!strcmp(argv[3], "adapters"))
		options.ends = FAB_ENDS_ADAPTERS;
	rc = fab_source_open(argv[1], NULL, &f, &err);
	if (!rc)
		rc = fab_routes_read(f, NULL, argv[2], NULL, NULL, &r, &err);
	if (!rc)
		rc = fab_judge(r, &options, &j, &err);
	if (rc) {
		fprintf(stderr, "%s\n", err.text);
		return 3;
	}
	printf("judged\t%llu\t%llu\t%llu\t%llu\t%llu\n", (unsigned long long)j.pairs,
	       (unsigned long long)j.unreachable, (unsigned long long)j.cycle_channels,
	       (unsigned long long)j.pairs_on_cycles, (unsigned long long)j.valley_pairs);
	put(f, "valley", &j.valleys);
	put(f, "unreached", &j.unreached);
	fab_judgement_fini(&j);
	fab_routes_free(r);
	fab_fabric_free(f);
	return 0;
}
