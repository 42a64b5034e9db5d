/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options: what a row takes, and the one sentence on a bad value. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/num.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/internal.h"

typedef FAB_VEC(const char *) texts;

int fab_cli_take_fabric(struct fab_cli_input *input, const char *arg, struct fab_err *err)
{
	if (input->fabric)
		return fab_fail(err, EINVAL, "more than one FABRIC: '%s' and '%s'",
				input->fabric, arg);
	if (!*arg)
		return fab_fail(err, EINVAL, "FABRIC is empty");
	input->fabric = arg;
	fab_cli_note_input("FABRIC", arg);
	return 0;
}

static int take_text(const struct fab_option *o, void *to, const char *arg,
		     struct fab_err *err)
{
	bool is_output = o->takes == FAB_TAKES_OUTPUT || o->takes == FAB_TAKES_PLOT;
	bool is_file = is_output || o->takes == FAB_TAKES_INPUT;
	char option[64];

	if (!*arg)
		return fab_fail(err, EINVAL, "the %s is empty",
				is_file ? "file name" : "value");
	if (o->check && o->check(arg, err))
		return -EINVAL;
	snprintf(option, sizeof(option), "--%s", o->name);
	if (is_output)
		fab_cli_note_output(option, arg);
	else if (o->takes != FAB_TAKES_TEXT)
		fab_cli_note_input(option, arg);
	if (o->is_many)
		FAB_PUSH((texts *)to, arg);
	else
		*(const char **)to = arg;
	return 0;
}

static int put_number(const struct fab_option *o, void *to, uint64_t n)
{
	assert(o->to.bytes == sizeof(uint32_t) || o->to.bytes == sizeof(uint64_t));
	if (o->to.bytes == sizeof(uint32_t))
		*(uint32_t *)to = (uint32_t)n;
	else
		*(uint64_t *)to = n;
	return 0;
}

static int take_number(const struct fab_option *o, void *to, const char *arg,
		       struct fab_err *err)
{
	char max[24] = "2^64-1";
	uint64_t n;

	if (fab_parse_u64(arg, strlen(arg), o->min, o->max, &n))
		return put_number(o, to, n);
	if (o->max != UINT64_MAX)
		snprintf(max, sizeof(max), "%" PRIu64, o->max);
	return fab_fail(err, EINVAL, "'%s' is not a number from %" PRIu64 " to %s", arg,
			o->min, max);
}

static int take_real(const struct fab_option *o, double *to, const char *arg,
		     struct fab_err *err)
{
	if (fab_parse_real(arg, strlen(arg), o->low, o->high, to))
		return 0;
	return fab_fail(err, EINVAL, "'%s' is not a number from %g to %g", arg, o->low,
			o->high);
}

static int take_rate(const struct fab_option *o, double *mbps, const char *arg,
		     struct fab_err *err)
{
	char low[FAB_HUMAN_BYTES], high[FAB_HUMAN_BYTES];
	int rc = fab_parse_rate_mbps(arg, strlen(arg), mbps, err);

	if (rc || !(o->high > 0) || (*mbps >= o->low && *mbps <= o->high))
		return rc;
	return fab_fail(err, EINVAL, "'%s' is not a rate from %s to %s", arg,
			fab_human_mbps(o->low, low), fab_human_mbps(o->high, high));
}

static int take_time(const struct fab_option *o, void *to, const char *arg,
		     struct fab_err *err)
{
	uint64_t ns;
	int rc = fab_parse_time_ns(arg, strlen(arg), o->max, &ns, err);

	if (rc)
		return rc;
	if (ns < o->min)
		return fab_fail(err, EINVAL,
				"'%s' is too short: expected a time such as %s", arg,
				o->like ? o->like : "2ms");
	if (o->takes == FAB_TAKES_SECONDS)
		*(double *)to = (double)ns / 1e9;
	else
		*(uint64_t *)to = ns;
	return 0;
}

static int take_one(const struct fab_option *o, void *to, const char *arg,
		    struct fab_err *err)
{
	uint32_t row = fab_choices_find(o->choices, arg, strlen(arg));

	if (row == FAB_NONE)
		return fab_choices_refuse(o->choices, arg, strlen(arg), NULL, err);
	return put_number(o, to, row);
}

static int take_chosen(const struct fab_option *o, struct fab_chosen_list *to,
		       const char *arg, struct fab_err *err)
{
	int rc;

	to->of.n = 0;
	if (o->has_none && !strcmp(arg, "none"))
		return 0;
	rc = fab_choices_parse(o->choices, arg, to, err);
	if (!rc && o->max && to->of.n > o->max)
		rc = fab_fail(err, EINVAL, "%zu %ss, %" PRIu64 " are the most", to->of.n,
			      o->choices->what, o->max);
	return rc;
}

static int take_plot(const struct fab_option *o, struct fab_cli_plot *to, const char *arg,
		     struct fab_err *err)
{
	const char *dot = strrchr(arg, '.');
	bool is_svg = dot && dot > arg && !strcmp(dot, ".svg");

	if (!is_svg && !(dot && dot > arg && !strcmp(dot, ".png")))
		return fab_fail(err, EINVAL, "'%s' does not end in .svg or .png", arg);
	to->terminal = is_svg ? FAB_PLOT_SVG : FAB_PLOT_PNG;
	return take_text(o, &to->path, arg, err);
}

int fab_option_take(const struct fab_option *o, void *at, const char *arg,
		    struct fab_err *err)
{
	void *to = (char *)at + o->to.offset;

	switch (o->takes) {
	case FAB_TAKES_HEADING:
	case FAB_TAKES_ALIAS:
		return 0;
	case FAB_TAKES_NOTHING:
		*(bool *)to = true;
		return 0;
	case FAB_TAKES_COUNT:
		++*(unsigned *)to;
		return 0;
	case FAB_TAKES_NUMBER:
		return take_number(o, to, arg, err);
	case FAB_TAKES_REAL:
		return take_real(o, to, arg, err);
	case FAB_TAKES_BYTES:
		return fab_parse_size_bytes(arg, strlen(arg), to, err);
	case FAB_TAKES_MBPS:
		return take_rate(o, to, arg, err);
	case FAB_TAKES_NS:
	case FAB_TAKES_SECONDS:
		return take_time(o, to, arg, err);
	case FAB_TAKES_ONE:
		return take_one(o, to, arg, err);
	case FAB_TAKES_CHOSEN:
		return take_chosen(o, to, arg, err);
	case FAB_TAKES_PLOT:
		return take_plot(o, to, arg, err);
	case FAB_TAKES_SHARD:
		return fab_cli_take_shard(to, arg, err);
	case FAB_TAKES_OTHER:
		return o->take(at, arg, err);
	default:
		return take_text(o, to, arg, err);
	}
}

void fab_option_free(const struct fab_option *o, void *at)
{
	void *to = (char *)at + o->to.offset;

	if (o->is_many)
		free(((texts *)to)->v);
	if (o->takes == FAB_TAKES_CHOSEN)
		free(((struct fab_chosen_list *)to)->of.v);
}
