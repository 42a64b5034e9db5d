/* SPDX-License-Identifier: BSD-2-Clause */
/* What is dead, by options. */
#include "cli/faults.h"

#include "base/namelist.h"
#include "base/rng.h"
#include "unicast/faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TO(member) FAB_TO(struct fab_cli_faults, member)
const struct fab_option fab_cli_faults_rows[] = {
	{.help = "What is dead:"},
	{"fail", "LIST",
	 "Switches, separated by commas: NAME, 0xGUID, lid:N, coordinates of a leaf such "
	 "as 3.7, host lists as ib[1-4], patterns; repeatable",
	 FAB_TAKES_TEXT, TO(fail), .is_many = true},
	{"fail-link", "LIST",
	 "Links, separated by commas: SWITCH:PORT or HOST/PORT; repeatable",
	 FAB_TAKES_TEXT, TO(fail_link), .is_many = true},
	{"fail-file", "FILE",
	 "A file of what is dead, a line each: switches, or the word link and links; "
	 "repeatable",
	 FAB_TAKES_INPUT, TO(fail_file), .is_many = true},
	{"random", "K", "K parts more, drawn by --seed", FAB_TAKES_NUMBER, TO(random),
	 .min = 1, .max = 1000000},
	{"of", "KIND", "Which parts die by chance: leaves (default), roots, links or any",
	 FAB_TAKES_ONE, TO(of), .choices = &fab_fault_kind_choices},
	{0},
};
#undef TO

#define TO(member) FAB_TO(struct fab_cli_tables, member)
const struct fab_option fab_cli_tables_rows[] = {
	{.help = "Tables:"},
	{"lfts", "FILE",
	 "Analyse the forwarding tables of FILE (opensm-lfts.dump, opensm.fdbs, "
	 "dump_fts) "
	 "as algorithm loaded",
	 FAB_TAKES_INPUT, TO(lfts)},
	{"path-sl", "FILE",
	 "With --lfts: service levels of the paths, as ibdmchk reads them",
	 FAB_TAKES_INPUT, TO(path_sl)},
	{"sl2vl", "FILE",
	 "With --lfts: lanes of the service levels, as ibdmchk reads them",
	 FAB_TAKES_INPUT, TO(sl2vl)},
	{0},
};
#undef TO

typedef int (*add_fn)(struct fab_faults *faults, const char *text, struct fab_err *err);

/* The first item of a list that is a link, as SWITCH:PORT; on the heap, NULL: none. */
static char *find_link(const struct fab_fabric *f, const char *list)
{
	const char *at = list, *end = list + strlen(list);
	struct fab_faults *links = fab_faults_new(f);
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
	fab_faults_free(links);
	return link;
}

/* Switches; links among them are refused with the option that takes them. */
static int add_switches(struct fab_faults *faults, const char *text, struct fab_err *err)
{
	int rc = fab_faults_add_switches(faults, text, err);
	char *link = rc ? find_link(faults->f, text) : NULL;

	if (link)
		rc = fab_fail(err, EINVAL,
			      "'%.80s' is a link: expected a switch; links are for "
			      "--fail-link",
			      link);
	free(link);
	return rc;
}

/* All texts of an option; errors of `option` begin with it, NULL: they name a file. */
static int add_all(struct fab_faults *faults, const char *const *texts, size_t n,
		   const char *option, add_fn add, const struct fab_cli_run *run,
		   struct fab_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		rc = add(faults, texts[i], err);
		fab_cli_tell_matches(run, option ? option : texts[i], &faults->matches);
	}
	if (rc && option)
		fab_err_prefix(err, option);
	return rc;
}

int fab_cli_name_faults(const struct fab_cli_faults *faults,
			const struct fab_cli_run *run, const struct fab_fabric *f,
			struct fab_faults **out, struct fab_err *err)
{
	struct fab_faults *dead = fab_faults_new(f);
	int rc;

	dead->matches.with_names = run->verbose;
	rc = add_all(dead, faults->fail.v, faults->fail.n, "--fail", add_switches, run,
		     err);
	if (!rc)
		rc = add_all(dead, faults->fail_link.v, faults->fail_link.n,
			     "--fail-link", fab_faults_add_cables, run, err);
	if (!rc)
		rc = add_all(dead, faults->fail_file.v, faults->fail_file.n, NULL,
			     fab_faults_add_file, run, err);
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
	struct fab_fault_maker maker;
	struct fab_fault_sets sets;
	int rc = fab_fault_sets_random(dead->f, dead, faults->of, faults->random, 1,
				       run->seed, &sets, err);

	if (rc)
		return rc;
	fab_fault_maker_init(&maker, &sets);
	fab_fault_maker_make(&maker, 0);
	for (size_t i = 0; i < maker.faults->named.n; i++)
		fab_faults_kill(dead, maker.faults->named.v[i]);
	fab_fault_maker_fini(&maker);
	fab_fault_sets_fini(&sets);
	return 0;
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
		return fab_fail(err, EINVAL,
				"--root-guids is for algorithm updn, which is not asked "
				"for");
	return fab_cli_fills_roots(path) ? 0 : fab_root_list_read(f, path, out, err);
}
