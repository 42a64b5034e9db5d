/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options: what a row takes, and the one sentence on a bad value. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/units.h"
#include "boot/mapping.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/internal.h"
#include "export/boot.h"
#include "launch/exchange.h"
#include "launch/fence.h"
#include "launch/locks.h"
#include "launch/nodes.h"
#include "launch/size.h"
#include "launch/stages.h"
#include "mcast/route.h"
#include "rdma/rdma.h"
#include "sim/sim.h"
#include "traffic/pattern.h"
#include "traffic/traffic.h"
#include "unicast/engine.h"

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
	if (!*arg)
		return fab_fail(err, EINVAL, "the %s is empty",
				o->takes == FAB_TAKES_TEXT ||
						o->takes == FAB_TAKES_FILE_OR_TEXT
					? "value"
					: "file name");
	if (o->check && o->check(arg, err))
		return -EINVAL;
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

static int take_real(const struct fab_option *o, void *at, const char *arg,
		     struct fab_err *err)
{
	double *to = at;

	if (fab_parse_real(arg, strlen(arg), o->low, o->high, to))
		return 0;
	return fab_fail(err, EINVAL, "'%s' is not a number from %g to %g", arg, o->low,
			o->high);
}

static int take_rate(const struct fab_option *o, void *at, const char *arg,
		     struct fab_err *err)
{
	double *mbps = at;
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

static int take_chosen(const struct fab_option *o, void *at, const char *arg,
		       struct fab_err *err)
{
	struct fab_chosen_list *to = at;
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

static int take_plot(const struct fab_option *o, void *at, const char *arg,
		     struct fab_err *err)
{
	struct fab_cli_plot *to = at;
	const char *dot = strrchr(arg, '.');

	if (!dot || dot == arg || (strcmp(dot, ".svg") != 0 && !fab_cli_is_png(arg)))
		return fab_fail(err, EINVAL, "'%s' does not end in .svg or .png", arg);
	return take_text(o, &to->path, arg, err);
}

int fab_option_take(const struct fab_option *o, void *at, const char *arg,
		    struct fab_err *err)
{
	static int (*const takers[])(const struct fab_option *o, void *to,
				     const char *arg, struct fab_err *err) = {
		[FAB_TAKES_NUMBER] = take_number, [FAB_TAKES_REAL] = take_real,
		[FAB_TAKES_MBPS] = take_rate,	  [FAB_TAKES_NS] = take_time,
		[FAB_TAKES_SECONDS] = take_time,  [FAB_TAKES_ONE] = take_one,
		[FAB_TAKES_CHOSEN] = take_chosen, [FAB_TAKES_PLOT] = take_plot,
		[FAB_TAKES_OTHER] = NULL,
	};
	void *to = (char *)at + o->to.offset;

	switch (o->takes) {
	case FAB_TAKES_HEADING:
		return 0;
	case FAB_TAKES_NOTHING:
		*(bool *)to = true;
		return 0;
	case FAB_TAKES_COUNT:
		++*(unsigned *)to;
		return 0;
	case FAB_TAKES_BYTES:
		return fab_parse_size_bytes(arg, strlen(arg), to, err);
	case FAB_TAKES_SHARD:
		return fab_cli_take_shard(to, arg, err);
	case FAB_TAKES_OTHER:
		return o->take(at, arg, err);
	default:
		return takers[o->takes] ? takers[o->takes](o, to, arg, err)
					: take_text(o, to, arg, err);
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

char *fab_option_range(const struct fab_option *o)
{
	char low[FAB_HUMAN_BYTES], high[FAB_HUMAN_BYTES];

	switch (o->takes) {
	case FAB_TAKES_NUMBER:
		return o->max == UINT64_MAX
			       ? fab_format("from %" PRIu64, o->min)
			       : fab_format("%" PRIu64 " to %" PRIu64, o->min, o->max);
	case FAB_TAKES_REAL:
		return fab_format("%g to %g", o->low, o->high);
	case FAB_TAKES_NS:
	case FAB_TAKES_SECONDS:
		return fab_format(o->min ? "%s to %s" : "%.0sup to %s",
				  fab_human_seconds((double)o->min / 1e9, low),
				  fab_human_seconds((double)o->max / 1e9, high));
	case FAB_TAKES_ONE:
		return fab_choices_text(o->choices, "or");
	case FAB_TAKES_NOTHING:
		return fab_strdup("yes or no");
	default:
		return NULL;
	}
}

/* The tables of names that options take. */
const struct fab_cli_table fab_cli_tables[] = {
	{"MULTICAST", &fab_mcast_choices},
	{"UNICAST", &fab_unicast_choices},
	{"MAPPINGS", &fab_mapping_choices},
	{"PATTERNS", &fab_pattern_choices},
	{"PERMUTATIONS", &fab_permutation_choices},
	{"BOOT_FORMATS", &fab_boot_format_choices},
	{"TRAFFIC", &fab_traffic_choices},
	{"SWITCHES", &fab_sim_switch_choices},
	{"DROPS", &fab_sim_drop_choices},
	{"DODGES", &fab_sim_dodge_choices},
	{"CHOOSERS", &fab_sim_chooser_choices},
	{"FENCES", &fab_fence_choices},
	{"ORDERS", &fab_node_order_choices},
	{"LOCKS", &fab_locks},
	{"PEERS", &fab_peers_choices},
	{"INTERFACES", &fab_launch_interfaces},
	{"WIREUPS", &fab_launch_wireups},
	{"STAGE_INS", &fab_stage_ins},
	{"SCOPES", &fab_key_scopes},
	{"RDMA_SCHEMES", &fab_rdma_scheme_choices},
	{"RDMA_PATTERNS", &fab_rdma_pattern_choices},
	{"ROUTES", &fab_sim_route_choices},
	{"RATES", &fab_rdma_rate_choices},
	{"LAYOUTS", &fab_size_layouts},
	{"OPTIMISATIONS", &fab_size_opts},
};
const size_t fab_cli_n_tables = FAB_COUNT(fab_cli_tables);
