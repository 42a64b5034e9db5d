/* SPDX-License-Identifier: BSD-2-Clause */
/* --shard=K/N: one part of a sweep, which must never be taken for the whole. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "base/num.h"
#include "base/rng.h"
#include "cli/cli.h"
#include "cli/internal.h"

enum { MAX_SHARDS = 1000000 };

int fab_cli_take_shard(struct fab_cli_shard *shard, const char *arg, struct fab_err *err)
{
	size_t len = strcspn(arg, "/");
	uint64_t number = 0, count = 0;

	if (!arg[len] || !fab_parse_u64(arg, len, 1, MAX_SHARDS, &number) ||
	    !fab_parse_u64(arg + len + 1, strlen(arg + len + 1), 1, MAX_SHARDS, &count) ||
	    number > count)
		return fab_fail(err, EINVAL,
				"'%s' is no shard: expected K/N, K from 1 to N, N up to "
				"%d",
				arg, MAX_SHARDS);
	shard->part = (struct fab_shard){number, count};
	snprintf(shard->text, sizeof(shard->text), "%" PRIu64 "/%" PRIu64, number, count);
	return 0;
}

void fab_cli_note_bytes(struct fab_cli_shard *shard, const void *bytes, size_t n)
{
	shard->input = fab_hash_bytes(bytes, n, shard->input);
}

int fab_cli_count_shard(struct fab_cli_shard *shard, uint64_t n_items, const char *unit,
			struct fab_err *err)
{
	shard->unit = unit;
	shard->all = n_items;
	shard->items = fab_shard_items(&shard->part, n_items);
	if (shard->part.count > n_items)
		return fab_fail(err, EINVAL,
				"--shard=%s: more shards than %s, of which there %s "
				"%" PRIu64,
				shard->text, unit, n_items == 1 ? "is" : "are", n_items);
	return 0;
}

const char *fab_cli_shard_text(const struct fab_cli_shard *shard)
{
	return shard->part.count ? shard->text : NULL;
}

void fab_cli_answer_shard(struct fab_report *r, const struct fab_cli_shard *shard)
{
	char items[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES];

	if (!shard->part.count)
		return;
	fab_report_answer(r, FAB_TONE_WARN,
			  "This is shard %" PRIu64 " of %" PRIu64
			  ": %s of %s %s; the others are not in it.",
			  shard->part.number, shard->part.count,
			  fab_human_count(shard->items, items),
			  fab_human_count(shard->all, all), shard->unit);
}

void fab_cli_report_shard(struct fab_report *r, const struct fab_cli_shard *shard)
{
	if (!shard->part.count)
		return;
	fab_report_text(r, "shard", shard->text);
	fab_report_text(r, "shard_unit", shard->unit);
	fab_report_uint(r, "shard_items", shard->items);
	fab_report_uint(r, "all_items", shard->all);
}
