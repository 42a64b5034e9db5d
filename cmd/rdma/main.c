/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma: which reliability scheme survives this network, and what it costs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "fabric_rdma.h"

static const struct fab_verb verbs[] = {
	[RDMA_TRACE] = {"trace", "", "what a window holds after each arrival"},
	[RDMA_COST] = {"cost", "", "bits of a context, and how many a memory holds"},
	{0},
};

static int take_arrivals(void *params, const char *arg, struct fab_err *err)
{
	return fab_rdma_arrivals_parse(arg, &((struct rdma_params *)params)->arrivals,
				       err);
}

static int take_windows(void *params, const char *arg, struct fab_err *err)
{
	struct rdma_params *p = params;

	p->n_windows = 0;
	for (const char *at = arg;; at++) {
		size_t len = strcspn(at, ",");
		uint64_t w;

		if (!fab_parse_u64(at, len, 1, FAB_RDMA_WINDOW_MAX, &w))
			return fab_fail(err, EINVAL,
					"'%.*s' is not a number from 1 to %d", (int)len,
					at, FAB_RDMA_WINDOW_MAX);
		if (p->n_windows == RDMA_MAX_WINDOWS)
			return fab_fail(err, EINVAL, "more than %d windows",
					RDMA_MAX_WINDOWS);
		p->window[p->n_windows++] = (uint32_t)w;
		at += len;
		if (!*at)
			return 0;
	}
}

/* The member of this name among the widths; NULL: none has it. */
static uint32_t *width_of(struct fab_rdma_widths *w, const char *name, size_t len)
{
	const struct {
		const char *name;
		uint32_t *width;
	} all[] = {{"node", &w->node},	 {"context", &w->context},
		   {"msgid", &w->msgid}, {"number", &w->number},
		   {"timer", &w->timer}, {"epoch", &w->epoch}};

	for (size_t i = 0; i < FAB_COUNT(all); i++)
		if (strlen(all[i].name) == len && !memcmp(all[i].name, name, len))
			return all[i].width;
	return NULL;
}

static int take_bits(void *params, const char *arg, struct fab_err *err)
{
	struct rdma_params *p = params;

	for (const char *at = arg;; at++) {
		size_t len = strcspn(at, ","), name_len = strcspn(at, "=,");
		uint32_t *width = width_of(&p->widths, at, name_len);
		uint64_t n;

		if (!width || name_len == len ||
		    !fab_parse_u64(at + name_len + 1, len - name_len - 1, 0, 64, &n))
			return fab_fail(err, EINVAL,
					"'%.*s': expected FIELD=BITS, such as "
					"number=24, of node, context, msgid, number, "
					"timer and epoch, 0 to 64 bits",
					(int)len, at);
		*width = (uint32_t)n;
		at += len;
		if (!*at)
			return 0;
	}
}

#define TO(member) FAB_TO(struct rdma_params, member)
static const struct fab_option options[] = {
	{.help = "A window (trace), contexts (cost):"},
	{"arrivals", "LIST",
	 "Packets in the order of their arrival, such as 2,1,0,4,3 or 0-9",
	 FAB_TAKES_OTHER, .take = take_arrivals},
	{"as-printed", NULL, "Slide by the rule as the paper prints it",
	 FAB_TAKES_NOTHING, TO(as_printed)},
	{"window", "W",
	 "Width of the receiver's window, 1 to 4096 (default 128); cost: several, as "
	 "32,128",
	 FAB_TAKES_OTHER, .take = take_windows},
	{"memory", "SIZE", "Memory for contexts (default 256KiB)", FAB_TAKES_BYTES,
	 TO(memory)},
	{"bits", "LIST",
	 "Widths of fields: node=16,context=12,msgid=20,number=12,timer=16,epoch=8 are "
	 "the defaults",
	 FAB_TAKES_OTHER, .take = take_bits},
	{"mtu", "BYTES", "Payload of a packet (default 2048)", FAB_TAKES_NUMBER,
	 TO(widths.mtu), .min = 1, .max = 32768},
	{"sender-window", "N", "Packets in the buffer of ssw (default 64)",
	 FAB_TAKES_NUMBER, TO(widths.buffer), .min = 1, .max = 1 << 20},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct rdma_params, input),
	{options, 0},
	FAB_PART(fab_cli_output_rows, struct rdma_params, output),
	FAB_PART(fab_cli_run_rows, struct rdma_params, run),
	{0},
};

static const struct fab_relation relations[] = {
	{"arrivals,as-printed", FAB_GOES_WITH, "VERB=trace"},
	{"memory,bits", FAB_GOES_WITH, "VERB=cost"},
	{0},
};

static int complete(void *params, struct fab_err *err)
{
	struct rdma_params *p = params;

	if (p->verb == RDMA_TRACE && !p->arrivals.number.n)
		return fab_fail(err, EINVAL,
				"trace needs --arrivals=LIST, such as 2,1,0,4,3");
	if (p->verb != RDMA_COST && p->n_windows > 1)
		return fab_fail(err, EINVAL, "%s takes one --window",
				verbs[p->verb].name);
	return 0;
}

static struct fab_cli_columns columns(const void *params)
{
	if (((const struct rdma_params *)params)->verb == RDMA_COST)
		return (struct fab_cli_columns){rdma_cost_columns, rdma_n_cost_columns};
	return (struct fab_cli_columns){rdma_trace_columns, rdma_n_trace_columns};
}

static int run(void *params, const struct fab_fabric *f, struct fab_err *err)
{
	const struct rdma_params *p = params;
	struct fab_cli_results results = {.n = 0};
	struct fab_report_options report;
	FILE *out = fab_cli_open_report(&results, &p->output, &report);
	int status = p->verb == RDMA_COST ? rdma_cost(p, out, &report, err)
					  : rdma_trace(p, out, &report, err);
	int rc;

	(void)f;
	if (status < 0)
		return status;
	rc = fab_cli_commit_results(&results, err);
	return rc ? rc : status;
}

static const struct fab_command command = {
	.name = "fabric-rdma",
	.doc = "Say which reliability scheme of RDMA survives loss and reordering on a "
	       "fabric, and what it costs.",
	.parts = parts,
	.relations = relations,
	.verbs = verbs,
	.verb = TO(verb),
	.columns = columns,
	.complete = complete,
	.run = run,
};

int main(int argc, char **argv)
{
	struct rdma_params p = {.window = {128},
				.n_windows = 1,
				.memory = 256 << 10,
				.widths = fab_rdma_widths};
	int status = fab_cli_main(&command, argc, argv, &p);

	free(p.arrivals.number.v);
	return status;
}
