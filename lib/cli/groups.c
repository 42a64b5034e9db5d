/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups, by options. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/faults.h"
#include "source/source.h"
#include "source/unpack.h"

static int take_groups(void *at, const char *arg, struct fab_err *err);
static int take_pattern(void *at, const char *arg, struct fab_err *err);

#define TO(member) FAB_TO(struct fab_cli_groups, member)
const struct fab_option fab_cli_groups_rows[] = {
	{.help = "Multicast groups:"},
	{"groups", "FILE",
	 "Read groups from FILE (- is standard input), a line each: NAME: MEMBER MEMBER "
	 "...; repeatable",
	 FAB_TAKES_OTHER, .take = take_groups},
	{"pattern", "SPEC", "Add the groups of a pattern: @PATTERNS@; repeatable",
	 FAB_TAKES_OTHER, .take = take_pattern},
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
	struct fab_fabric *f;

	if (fab_source_parse(name, in->bytes, in->n, NULL, &f, NULL))
		return false;
	fab_fabric_free(f);
	return true;
}

static int read_file(struct fab_groups_builder *b, const char *path, bool ignore_unknown,
		     const struct fab_cli_run *run, struct fab_err *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct fab_input in;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	fab_groups_builder_matches(b)->with_names = run->verbose;
	rc = fab_groups_read(b, name, in.bytes, in.n, ignore_unknown, err);
	if (!rc)
		fab_cli_tell_matches(run, name, fab_groups_builder_matches(b));
	if (rc && is_fabric(name, &in))
		rc = fab_fail(err, EINVAL,
			      "%s is a fabric, not groups: expected lines NAME: MEMBER "
			      "MEMBER ...",
			      name);
	fab_input_fini(&in);
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
		fab_cli_warn(run,
			     "left out: %llu members that are not in the fabric, %llu "
			     "groups without members",
			     (unsigned long long)(*out)->n_unknown,
			     (unsigned long long)(*out)->n_empty);
	return rc;
}

int fab_cli_read_mcfdbs(const char *path, bool ignore_unknown,
			const struct fab_cli_run *run, const struct fab_fabric *f,
			struct fab_mft **out, struct fab_err *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct fab_input in;
	int rc = fab_input_read_tables(path, &in, err);

	if (rc)
		return rc;
	rc = fab_mcfdbs_read(f, name, in.bytes, in.n, ignore_unknown, out, err);
	fab_input_fini(&in);
	if (!rc && (*out)->n_unknown_switches)
		fab_cli_warn(run,
			     "left out: tables of %llu switches that are not in the "
			     "fabric",
			     (unsigned long long)(*out)->n_unknown_switches);
	return rc;
}
