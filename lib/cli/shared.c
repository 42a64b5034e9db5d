/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options that commands share, and their evaluation: input, output, how it runs, dead
 * parts, tables, groups, shards, the database of results.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/num.h"
#include "base/rng.h"
#include "base/units.h"
#include "cli/faults.h"
#include "cli/internal.h"
#include "source/source.h"
#include "source/unpack.h"
#include "unicast/faults.h"

enum { MAX_THREADS = 4096, MAX_SHARDS = 1000000 };

static int check_database(const char *path, struct fab_err *err)
{
	if (strcmp(path, "-") != 0)
		return 0;
	return fab_fail(err, EINVAL, "a database cannot be standard output");
}

#define TO(member) FAB_TO(struct fab_cli_input, member)
const struct fab_option fab_cli_input_rows[] = {
	{.help = "Input:"},
	{"node-name-map", "FILE", "Names for GUIDs, a line each: GUID \"NAME\"",
	 FAB_TAKES_INPUT, TO(node_name_map)},
	{"hca", "PATTERN",
	 "Only adapters whose name matches (* ? [..]), with /N their port N; chooses a rail, with its switches",
	 FAB_TAKES_TEXT, TO(hca)},
	{"edit", "EDITS",
	 "Change the fabric first: a file or a text of move, drain, add, remove and speed such as 'move A:40 B:39; remove C:1' (fabric-formats(5)); repeatable",
	 FAB_TAKES_FILE_OR_TEXT, TO(edit), .is_many = true},
	{0},
};
#undef TO

#define TO(member) FAB_TO(struct fab_cli_output, member)
const struct fab_option fab_cli_output_rows[] = {
	{.help = "Output:"},
	{"output", "FILE", "Write the result to FILE, whole or not at all",
	 FAB_TAKES_OUTPUT, TO(path), .letter = 'o', .everyday = true},
	{"report", "FILE", "Write the report to FILE, a page with a picture",
	 FAB_TAKES_OUTPUT, TO(report), .everyday = true},
	{"format", "FORMAT", "table (default), json or csv", FAB_TAKES_ONE, TO(format),
	 .choices = FAB_NAME_LIST([FAB_FORMAT_TABLE] = "table",
				  [FAB_FORMAT_JSON] = "json", [FAB_FORMAT_CSV] = "csv"),
	 .everyday = true},
	{"columns", "LIST", "Columns of the main table; help: list them all",
	 FAB_TAKES_TEXT, TO(columns), .everyday = true},
	{"no-header", NULL, "Leave out headings", FAB_TAKES_NOTHING, TO(no_header)},
	{0},
};
#undef TO

#define TO(member) FAB_TO(struct fab_cli_run, member)
const struct fab_option fab_cli_run_rows[] = {
	{.help = "Run:"},
	{"quiet", NULL, "No progress, no warnings; errors only", FAB_TAKES_NOTHING,
	 TO(quiet), .letter = 'q', .everyday = true},
	{"verbose", NULL, "Say more, such as all warnings", FAB_TAKES_COUNT, TO(verbose),
	 .letter = 'v', .everyday = true},
	{"threads", "N",
	 "Use N threads (default: one a processor); the result is the same",
	 FAB_TAKES_NUMBER, TO(threads), .min = 1, .max = MAX_THREADS},
	{0},
};

const struct fab_option fab_cli_chance_rows[] = {
	{"seed", "N", "Seed of random choices", FAB_TAKES_NUMBER, TO(seed),
	 .max = UINT64_MAX, .everyday = true},
	{"verify", NULL, "Check the result by a second, independent computation",
	 FAB_TAKES_NOTHING, TO(verify)},
	{0},
};
#undef TO

#define TO(member) FAB_TO(struct fab_cli_store, member)
const struct fab_option fab_cli_store_rows[] = {
	{"store", "FILE", "Add the result to the SQLite database FILE", FAB_TAKES_OUTPUT,
	 TO(path), .check = check_database, .everyday = true},
	{"label", "TEXT", "With --store: a name for this run", FAB_TAKES_TEXT, TO(label)},
	{0},
};
#undef TO

void fab_cli_tell_matches(const struct fab_cli_run *run, const char *where,
			  struct fab_matches *matches)
{
	bool with_names = matches->with_names;

	for (size_t i = 0; i < matches->of.n && !run->quiet; i++) {
		const struct fab_match *m = &matches->of.v[i];
		bool has_names = run->verbose && m->which;
		FAB_AUTOFREE char *text = fab_format(
			"%s%s%s: %zu %s%s%s", where, strncmp(where, "--", 2) ? ": " : "=",
			m->item, m->n, m->n == 1 ? matches->one : matches->many,
			has_names ? ": " : "", has_names ? m->which : "");

		fab_cli_message("", text);
	}
	if (matches->n_others)
		fab_cli_note(run, "%s: and %llu more host lists and patterns", where,
			     (unsigned long long)matches->n_others);
	fab_matches_fini(matches);
	matches->with_names = with_names;
}

int fab_cli_take_shard(struct fab_cli_shard *shard, const char *arg, struct fab_err *err)
{
	size_t len = strcspn(arg, "/");
	uint64_t number = 0, count = 0;

	if (!arg[len] || !fab_parse_u64(arg, len, 1, MAX_SHARDS, &number) ||
	    !fab_parse_u64(arg + len + 1, strlen(arg + len + 1), 1, MAX_SHARDS, &count) ||
	    number > count)
		return fab_fail(
			err, EINVAL,
			"'%s' is no shard: expected K/N, K from 1 to N, N up to %d", arg,
			MAX_SHARDS);
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
		return fab_fail(
			err, EINVAL,
			"--shard=%s: more shards than %s, of which there %s %" PRIu64,
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

#define TO(member) FAB_TO(struct fab_cli_faults, member)
const struct fab_option fab_cli_faults_rows[] = {
	{.help = "Dead parts:"},
	{"fail", "LIST",
	 "Switches, separated by commas: NAME, 0xGUID, lid:N, coordinates of a leaf such as 3.7, host lists as ib[1-4], patterns; repeatable",
	 FAB_TAKES_TEXT, TO(fail), .is_many = true, .offers = FAB_OFFERS_NAMES},
	{"fail-link", "LIST",
	 "Links, separated by commas: SWITCH:PORT or HOST/PORT; repeatable",
	 FAB_TAKES_TEXT, TO(fail_link), .is_many = true, .offers = FAB_OFFERS_NAMES},
	{0},
};
const struct fab_option fab_cli_random_rows[] = {
	{"random", "K", "K parts more, drawn by --seed", FAB_TAKES_NUMBER, TO(random),
	 .min = 1, .max = 1000000},
	{"of", "KIND", "Parts that --random draws: leaves (default), roots, links or any",
	 FAB_TAKES_ONE, TO(of), .choices = &fab_fault_kind_choices},
	{0},
};
#undef TO

#define TO(member) FAB_TO(struct fab_cli_tables, member)
const struct fab_option fab_cli_tables_rows[] = {
	{.help = "Tables:"},
	{"lfts", "FILE",
	 "Analyse the forwarding tables of FILE (opensm-lfts.dump, opensm.fdbs, dump_fts) as algorithm loaded",
	 FAB_TAKES_INPUT, TO(lfts)},
	{"path-sl", "FILE",
	 "With --lfts: service levels of the paths, as ibdmchk reads or saquery -p prints them",
	 FAB_TAKES_INPUT, TO(path_sl)},
	{"sl2vl", "FILE",
	 "With --lfts: lanes of the service levels, as ibdmchk reads them or in opensm-sl2vl.dump",
	 FAB_TAKES_INPUT, TO(sl2vl)},
	{0},
};
#undef TO

#define TO(member) FAB_TO(struct fab_opensm, member)
const struct fab_option fab_cli_opensm_rows[] = {
	FAB_CLI_OPENSM_CONF_ROW(TO(conf)),
	{0},
};
#undef TO

void fab_cli_tell_tables(const struct fab_cli_run *run, const char *algorithm,
			 const struct fab_routes *routes)
{
	if (routes->instead)
		fab_cli_warn(run, "%s: %s", algorithm, routes->note);
}

/* The first item of a list that is a link, as SWITCH:PORT; on the heap, NULL: none. */
static char *find_link(const struct fab_fabric *f, const char *list)
{
	const char *at = list, *end = list + strlen(list);
	FAB_AUTO(fab_faults_free_at) struct fab_faults *links = fab_faults_new(f);
	struct fab_item item;
	struct fab_err err;
	char *link = NULL;

	while (!link && fab_list_next(&at, end, &item, &err) > 0) {
		link = fab_format("%.*s", (int)item.len, item.text);
		if (!fab_faults_add_cables(links, link, &err))
			break;
		free(link);
		link = NULL;
	}
	return link;
}

/* Switches; links among them are refused with the option that takes them. */
static int add_switches(struct fab_faults *faults, const char *text, struct fab_err *err)
{
	int rc = fab_faults_add_switches(faults, text, err);
	FAB_AUTOFREE char *link = rc ? find_link(faults->f, text) : NULL;

	if (link)
		rc = fab_fail(
			err, EINVAL,
			"'%.80s' is a link: expected a switch; links are for --fail-link",
			link);
	return rc;
}

int fab_cli_name_faults(const struct fab_cli_faults *faults,
			const struct fab_cli_run *run, const struct fab_fabric *f,
			struct fab_faults **out, struct fab_err *err)
{
	const struct {
		const char *option; /* begins its errors; NULL: they name a file */
		const char *const *texts;
		size_t n;
		int (*add)(struct fab_faults *faults, const char *text,
			   struct fab_err *err);
	} of[] = {
		{"--fail", faults->fail.v, faults->fail.n, add_switches},
		{"--fail-link", faults->fail_link.v, faults->fail_link.n,
		 fab_faults_add_cables},
		{NULL, faults->fail_file.v, faults->fail_file.n, fab_faults_add_file},
	};
	struct fab_faults *dead = fab_faults_new(f);
	int rc = 0;

	dead->matches.with_names = run->verbose;
	for (size_t k = 0; k < FAB_COUNT(of) && !rc; k++) {
		const char *option = of[k].option;

		for (size_t i = 0; i < of[k].n && !rc; i++) {
			rc = of[k].add(dead, of[k].texts[i], err);
			fab_cli_tell_matches(run, option ? option : of[k].texts[i],
					     &dead->matches);
		}
		if (rc && option)
			fab_err_prefix(err, option);
	}
	if (rc)
		fab_faults_free(dead);
	else
		*out = dead;
	return rc;
}

/* The K of --random on top of what is dead. */
static int draw(const struct fab_cli_faults *faults, const struct fab_cli_run *run,
		struct fab_faults *dead, struct fab_err *err)
{
	struct fab_fault_sets sets = {.always = dead, .k = faults->random};
	struct fab_stream stream = fab_stream_of(run->seed, 0);
	int rc = fab_fault_sets_init(&sets, faults->of, err);

	if (!rc)
		fab_faults_draw(dead, &sets.candidates, sets.k, &stream);
	fab_fault_sets_fini(&sets);
	return rc;
}

int fab_cli_draw_faults(const struct fab_cli_faults *faults,
			const struct fab_cli_run *run, const struct fab_fabric *f,
			struct fab_faults **out, struct fab_err *err)
{
	struct fab_faults *dead;
	int rc = fab_cli_name_faults(faults, run, f, &dead, err);

	if (!rc && faults->random) {
		rc = draw(faults, run, dead, err);
		if (rc)
			fab_faults_free(dead);
	}
	if (!rc)
		*out = dead;
	return rc;
}

void fab_cli_note_faults(struct fab_cli_shard *shard, const struct fab_faults *dead)
{
	for (size_t i = 0; i < dead->named.n; i++) {
		const struct fab_fault *fault = &dead->named.v[i];

		shard->input = fab_mix64(shard->input ^
					 ((uint64_t)fault->id << 1 | fault->is_cable));
	}
}

bool fab_cli_fills_roots(const char *path)
{
	return path && !strcmp(path, "auto");
}

int fab_cli_read_roots(const char *path, bool has_updn, const struct fab_fabric *f,
		       struct fab_ids *out, struct fab_err *err)
{
	if (!path)
		return 0;
	if (!has_updn)
		return fab_fail(
			err, EINVAL,
			"root-guids is for algorithm updn, which is not asked for");
	return fab_cli_fills_roots(path) ? 0 : fab_root_list_read(f, path, out, err);
}

static int take_groups(void *at, const char *arg, struct fab_err *err);
static int take_pattern(void *at, const char *arg, struct fab_err *err);

#define TO(member) FAB_TO(struct fab_cli_groups, member)
const struct fab_option fab_cli_groups_rows[] = {
	{.help = "Multicast groups:"},
	{"groups", "FILE",
	 "Read groups from FILE (- is standard input), a line each: NAME: MEMBER MEMBER ...; repeatable",
	 FAB_TAKES_OTHER, .take = take_groups},
	{"pattern", "SPEC", "Add the groups of a pattern: @PATTERNS@; repeatable",
	 FAB_TAKES_OTHER, .take = take_pattern, .everyday = true},
	{"ignore-unknown", NULL,
	 "Go on without members that are not in the fabric, and say how many",
	 FAB_TAKES_NOTHING, TO(ignore_unknown)},
	{0},
};
#undef TO

static int take_groups(void *at, const char *arg, struct fab_err *err)
{
	struct fab_cli_groups *groups = at;

	if (!*arg)
		return fab_fail(err, EINVAL, "the file name is empty");
	fab_cli_note_input("--groups", arg);
	FAB_PUSH(&groups->of, ((struct fab_cli_group_source){arg, false}));
	return 0;
}

static int take_pattern(void *at, const char *arg, struct fab_err *err)
{
	struct fab_cli_groups *groups = at;

	if (fab_groups_check_pattern(arg, err))
		return -EINVAL;
	FAB_PUSH(&groups->of, ((struct fab_cli_group_source){arg, true}));
	return 0;
}

void fab_cli_groups_fini(struct fab_cli_groups *groups)
{
	free(groups->of.v);
}

/* The two files are easily given in each other's place. */
static bool is_fabric(const char *name, const struct fab_input *in)
{
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL;

	return fab_source_parse(name, in->bytes, in->n, NULL, &f, NULL) == 0;
}

static int read_file(struct fab_groups_builder *b, const char *path, bool ignore_unknown,
		     const struct fab_cli_run *run, struct fab_err *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	fab_groups_builder_matches(b)->with_names = run->verbose;
	rc = fab_groups_read(b, name, in.bytes, in.n, ignore_unknown, err);
	if (!rc)
		fab_cli_tell_matches(run, name, fab_groups_builder_matches(b));
	if (rc && is_fabric(name, &in))
		rc = fab_fail(
			err, EINVAL,
			"%s is a fabric, not groups: expected lines NAME: MEMBER MEMBER ...",
			name);
	return rc;
}

int fab_cli_make_groups(const struct fab_cli_groups *groups,
			const struct fab_cli_run *run, const struct fab_fabric *f,
			const struct fab_mft *tables, struct fab_groups **out,
			struct fab_err *err)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	int rc = 0;

	for (size_t i = 0; i < groups->of.n && !rc; i++) {
		const struct fab_cli_group_source *s = &groups->of.v[i];

		rc = s->is_pattern
			     ? fab_groups_add_pattern(b, s->text, run->seed, err)
			     : read_file(b, s->text, groups->ignore_unknown, run, err);
	}
	if (rc) {
		fab_groups_builder_free(b);
		return rc;
	}
	if (tables)
		fab_groups_add_mft(b, tables);
	rc = fab_groups_builder_finish(b, groups->ignore_unknown, out, err);
	if (!rc && ((*out)->n_unknown || (*out)->n_empty))
		fab_cli_warn(
			run,
			"left out: %llu members that are not in the fabric, %llu groups without members",
			(unsigned long long)(*out)->n_unknown,
			(unsigned long long)(*out)->n_empty);
	return rc;
}

int fab_cli_read_mcfdbs(const char *path, bool ignore_unknown,
			const struct fab_cli_run *run, const struct fab_fabric *f,
			struct fab_mft **out, struct fab_err *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc = fab_input_read_tables(path, &in, err);

	if (rc)
		return rc;
	rc = fab_mcfdbs_read(f, name, in.bytes, in.n, ignore_unknown, out, err);
	if (!rc && (*out)->n_unknown_switches)
		fab_cli_warn(
			run,
			"left out: tables of %llu switches that are not in the fabric",
			(unsigned long long)(*out)->n_unknown_switches);
	return rc;
}
