/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of the database and the structures that hold their rows. */
#include "base/macros.h"
#include "store/internal.h"

#define FIELD(type, owner, member)                                                       \
	{                                                                                \
#member, FAB_FIELD_##type, offsetof(struct owner, member)                \
	}
#define OF_FABRIC(type, member)                                                          \
	{                                                                                \
#member, FAB_FIELD_##type, offsetof(struct fab_store_run, fabric.member) \
	}

static const struct fab_field run[] = {
	FIELD(ID, fab_store_run, id),
	FIELD(TEXT, fab_store_run, time),
	FIELD(NAME, fab_store_run, command),
	FIELD(NAME, fab_store_run, version),
	FIELD(TEXT, fab_store_run, arguments),
	FIELD(NULLABLE, fab_store_run, label),
	FIELD(NAME, fab_store_run, host),
	OF_FABRIC(NAME, source),
	OF_FABRIC(HEX, fingerprint),
	OF_FABRIC(UINT, switches),
	OF_FABRIC(UINT, adapters),
	OF_FABRIC(UINT, aggregation_nodes),
	OF_FABRIC(UINT, hosts),
	OF_FABRIC(UINT, switch_links),
	OF_FABRIC(UINT, host_links),
};
static const struct fab_field number[] = {
	FIELD(NAME, fab_store_number, name),
	FIELD(NUMBER, fab_store_number, value),
};
static const struct fab_field asked[] = {
	FIELD(NAME, fab_store_text, name),
	FIELD(TEXT, fab_store_text, value),
};
static const struct fab_field shard[] = {
	FIELD(UINT, fab_store_shard, number),	 FIELD(UINT, fab_store_shard, count),
	FIELD(NAME, fab_store_shard, unit),	 FIELD(UINT, fab_store_shard, items),
	FIELD(UINT, fab_store_shard, all_items), FIELD(TEXT, fab_store_shard, job),
	FIELD(HEX, fab_store_shard, input),
};
static const struct fab_field result[] = {
	FIELD(ID, fab_store_result, id),
	FIELD(NAME, fab_store_result, algorithm),
};
static const struct fab_field bin[] = {
	FIELD(UINT, fab_store_bin, load),
	FIELD(UINT, fab_store_bin, links),
};
static const struct fab_field detail[] = {
	FIELD(UINT, fab_store_detail, position),
	FIELD(NAME, fab_store_detail, part),
	FIELD(NAME, fab_store_detail, name),
	FIELD(NUMBER, fab_store_detail, value),
};
static const struct fab_field batch[] = {
	FIELD(ID, fab_store_batch, id),
	FIELD(UINT, fab_store_batch, position),
	FIELD(NAME, fab_store_batch, algorithm),
	FIELD(TEXT, fab_store_batch, name),
	FIELD(UINT, fab_store_batch, nodes),
	FIELD(UINT, fab_store_batch, servers),
	FIELD(REAL, fab_store_batch, bandwidth_mbps),
	FIELD(REAL, fab_store_batch, boot_seconds),
	FIELD(NULLABLE, fab_store_batch, bottleneck),
};
static const struct fab_field segment[] = {
	FIELD(NAME, fab_store_segment, name),
	FIELD(REAL, fab_store_segment, capacity_mbps),
	FIELD(UINT, fab_store_segment, max_sharers),
	FIELD(REAL, fab_store_segment, share_mbps),
	FIELD(TEXT, fab_store_segment, tightest),
};

#define FIELDS(fields, type) fields, FAB_COUNT(fields), sizeof(struct type)
#define OF(owner, member)                                                                \
	offsetof(struct owner, member), offsetof(struct owner, n_##member)
#define OF_RUN(table) "temp.chosen AS c CROSS JOIN " table " AS t ON t.run = c.id "
#define OF_RESULT(table)                                                                 \
	"temp.chosen_result AS r CROSS JOIN " table " AS t ON t.result = r.id "          \
	"ORDER BY r.run, r.position, "
#define HAS_RESULT(batch)                                                                \
	"WHERE " batch ".algorithm IN (SELECT algorithm FROM temp.chosen_result AS r "   \
	"WHERE r.run = c.id) "

const struct fab_rows_kind fab_rows_kinds[FAB_N_ROWS] = {
	[FAB_ROWS_RUN] =
		{"run", -1, NULL, false, false,
		 "run AS t WHERE t.id IN (SELECT id FROM temp.chosen) ORDER BY t.id",
		 FIELDS(run, fab_store_run), 0, 0},
	[FAB_ROWS_FACT] = {"fact", FAB_ROWS_RUN, "run", true, false,
			   OF_RUN("fact") "ORDER BY c.id, t.name",
			   FIELDS(number, fab_store_number), OF(fab_store_run, facts)},
	[FAB_ROWS_ASKED] = {"asked", FAB_ROWS_RUN, "run", true, false,
			    OF_RUN("asked") "ORDER BY c.id, t.name",
			    FIELDS(asked, fab_store_text), OF(fab_store_run, asked)},
	[FAB_ROWS_SHARD] = {"shard", FAB_ROWS_RUN, "run", false, false,
			    OF_RUN("shard") "ORDER BY c.id",
			    FIELDS(shard, fab_store_shard), OF(fab_store_run, shard)},
	[FAB_ROWS_RESULT] = {"result", FAB_ROWS_RUN, "run", false, true,
			     "temp.chosen_result AS t ORDER BY t.run, t.position",
			     FIELDS(result, fab_store_result),
			     OF(fab_store_run, results)},
	[FAB_ROWS_METRIC] = {"metric", FAB_ROWS_RESULT, "result", true, false,
			     OF_RESULT("metric") "t.name",
			     FIELDS(number, fab_store_number),
			     OF(fab_store_result, metrics)},
	[FAB_ROWS_BIN] = {"histogram", FAB_ROWS_RESULT, "result", false, false,
			  OF_RESULT("histogram") "t.load", FIELDS(bin, fab_store_bin),
			  OF(fab_store_result, bins)},
	[FAB_ROWS_DETAIL] = {"detail", FAB_ROWS_RESULT, "result", true, false,
			     OF_RESULT("detail") "t.position, t.name",
			     FIELDS(detail, fab_store_detail),
			     OF(fab_store_result, details)},
	[FAB_ROWS_BATCH] = {"batch", FAB_ROWS_RUN, "run", false, false,
			    OF_RUN("batch") HAS_RESULT("t") "ORDER BY c.id, t.position",
			    FIELDS(batch, fab_store_batch), OF(fab_store_run, batches)},
	[FAB_ROWS_SEGMENT] =
		{"segment", FAB_ROWS_BATCH, "batch", false, true,
		 "temp.chosen AS c CROSS JOIN batch AS b ON b.run = c.id CROSS JOIN segment AS t ON t.batch = b.id " HAS_RESULT(
			 "b") "ORDER BY c.id, b.position, t.position",
		 FIELDS(segment, fab_store_segment), OF(fab_store_batch, segments)},
};
