/* SPDX-License-Identifier: BSD-2-Clause */
/* Dead parts, groups and tables: options of several commands. */
#pragma once

#include "cli/command.h"
#include "mcast/groups.h"
#include "mcast/tables.h"
#include "peer/opensm.h"
#include "unicast/analysis.h"
#include "unicast/engine.h"
#include "unicast/faults.h"

/* --fail, --fail-link, --random, --of, --set fail-file. */
struct fab_cli_faults {
	FAB_VEC(const char *) fail, fail_link, fail_file;
	uint32_t random; /* 0: not given */
	enum fab_fault_kind of;
};
extern const struct fab_option fab_cli_faults_rows[], fab_cli_random_rows[];

/*
 * Parts named by the options, without random ones; reports the matches of lists. The
 * caller frees *out, which an error does not change. ENOENT, EINVAL: the sentence begins
 * with the option. O(names).
 */
int fab_cli_name_faults(const struct fab_cli_faults *faults,
			const struct fab_cli_run *run, const struct fab_fabric *f,
			struct fab_faults **out, struct fab_err *err) FAB_MUST_CHECK;
/* Parts named by the options and the K of --random, drawn by --seed: those that a single
 * set of fabric-faults has. O(names + K). */
int fab_cli_draw_faults(const struct fab_cli_faults *faults,
			const struct fab_cli_run *run, const struct fab_fabric *f,
			struct fab_faults **out, struct fab_err *err) FAB_MUST_CHECK;

/* --lfts, --path-sl, --sl2vl. */
struct fab_cli_tables {
	const char *lfts, *path_sl, *sl2vl;
};
extern const struct fab_option fab_cli_tables_rows[];

/* --opensm-conf: of algorithms opensm:ENGINE, into a struct fab_opensm. */
extern const struct fab_option fab_cli_opensm_rows[];
/* Warn where OpenSM took another engine than `algorithm` for the tables. */
void fab_cli_tell_tables(const struct fab_cli_run *run, const char *algorithm,
			 const struct fab_routes *routes);

/*
 * In the picture of --report: loads of cables by an analysis (that of the fuller
 * direction; nothing where it has none), its loop of channels, and the first pairs
 * without a path; `by` names the tables. O(arcs).
 */
void fab_cli_draw_analysis(struct fab_drawing *d, const struct fab_fabric *f,
			   const struct fab_analysis *j, const char *by);
/* Loads of cables by what each port sends, sent[ports], in the unit; of a cable that of
 * its fuller direction. The fullest one is marked. O(cables). */
void fab_cli_draw_sent(struct fab_drawing *d, const struct fab_fabric *f,
		       const double *sent, const char *unit, const char *what);
/* Marks of what is dead. O(named). */
void fab_cli_mark_faults(struct fab_drawing *d, const struct fab_fabric *f,
			 const struct fab_faults *dead);

/* A shard is of what is dead, by whatever names and files: into its digest. O(named). */
void fab_cli_note_faults(struct fab_cli_shard *shard, const struct fab_faults *dead);
/*
 * The list of --root-guids=PATH (NULL: not given, nothing is done; `auto`: there is
 * none), which is for engines of that name. The caller frees out->of.v. EINVAL: no such
 * engine is asked for; and as fab_root_list_read().
 */
int fab_cli_read_roots(const char *path, bool has_updn, const struct fab_fabric *f,
		       struct fab_ids *out, struct fab_err *err) FAB_MUST_CHECK;
/* Is it auto: shall updn choose its own roots where the fabric has no ranks? O(1). */
bool fab_cli_fills_roots(const char *path);

/* Rows of the parts above that are expert settings. */
#define FAB_CLI_SUBNET_ROW(to)                                                           \
	{                                                                                \
		"subnet", "FILE", "LIDs, from another description of the fabric",        \
			FAB_TAKES_INPUT, to                                              \
	}
#define FAB_CLI_FAIL_FILE_ROW(to)                                                                      \
	{                                                                                              \
		"fail-file", "FILE",                                                                   \
			"What is dead, a line each: switches, or the word link and links; repeatable", \
			FAB_TAKES_INPUT, to, .is_many = true                                           \
	}
#define FAB_CLI_OPENSM_CONF_ROW(to)                                                                                               \
	{                                                                                                                         \
		"opensm-conf", "FILE",                                                                                            \
			"With --algorithm=opensm:ENGINE: opensm.conf of the site, of which roots, hosts, lanes and orders count", \
			FAB_TAKES_INPUT, to                                                                                       \
	}
#define FAB_CLI_TIME_LIMIT_ROW(to)                                                       \
	{                                                                                \
		"time-limit", "TIME",                                                    \
			"With --algorithm=opensm:ENGINE: how long OpenSM may take",      \
			FAB_TAKES_SECONDS, to, .min = 1000 * 1000, .max = UINT64_MAX,    \
					       .like = "30s", .preset = "10min"          \
	}
/* Of a command whose parameters have members input, faults, tables and opensm. */
#define FAB_CLI_EXPERT_ROWS(type)                                                            \
	FAB_CLI_SUBNET_ROW(FAB_TO(type, input.subnet)),                                      \
		FAB_CLI_FAIL_FILE_ROW(FAB_TO(type, faults.fail_file)),                       \
		{"random",                                                                   \
		 "K",                                                                        \
		 "K dead parts more, drawn by --seed",                                       \
		 FAB_TAKES_NUMBER,                                                           \
		 FAB_TO(type, faults.random),                                                \
		 .min = 1,                                                                   \
		 .max = 1000000},                                                            \
		{"of",                                                                       \
		 "KIND",                                                                     \
		 "Parts that random draws",                                                  \
		 FAB_TAKES_ONE,                                                              \
		 FAB_TO(type, faults.of),                                                    \
		 .choices = &fab_fault_kind_choices,                                         \
		 .preset = "leaves"},                                                        \
		{"path-sl", "FILE",                                                          \
		 "With --lfts: service levels of the paths, as fabric-faults(1) reads them", \
		 FAB_TAKES_INPUT, FAB_TO(type, tables.path_sl)},                             \
		{"sl2vl", "FILE",                                                            \
		 "With --lfts: lanes of the service levels, as fabric-faults(1) reads them", \
		 FAB_TAKES_INPUT, FAB_TO(type, tables.sl2vl)},                               \
		FAB_CLI_OPENSM_CONF_ROW(FAB_TO(type, opensm.conf)),                          \
		FAB_CLI_TIME_LIMIT_ROW(FAB_TO(type, opensm.limit_seconds))

/* Where groups come from, in the order of the command line. */
struct fab_cli_group_source {
	const char *text;
	bool is_pattern;
};
/* --groups, --pattern, --ignore-unknown. */
struct fab_cli_groups {
	FAB_VEC(struct fab_cli_group_source) of;
	bool ignore_unknown;
};
extern const struct fab_option fab_cli_groups_rows[];
void fab_cli_groups_fini(struct fab_cli_groups *groups);
/* Read and make them, and those of multicast tables (NULL: none); warns of what is left
 * out. The caller frees *out. EINVAL and what files give. O(text + members). */
int fab_cli_make_groups(const struct fab_cli_groups *groups,
			const struct fab_cli_run *run, const struct fab_fabric *f,
			const struct fab_mft *tables, struct fab_groups **out,
			struct fab_err *err) FAB_MUST_CHECK;
/* Read opensm.mcfdbs; warns of switches that are left out. The caller frees *out. O(n log
 * n). */
int fab_cli_read_mcfdbs(const char *path, bool ignore_unknown,
			const struct fab_cli_run *run, const struct fab_fabric *f,
			struct fab_mft **out, struct fab_err *err) FAB_MUST_CHECK;
