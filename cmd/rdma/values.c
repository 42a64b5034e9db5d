/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma: values of options that have forms of their own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "fabric_rdma.h"

static const double MAX_DELAY_NS = 1e9;

int rdma_take_arrivals(void *params, const char *arg, struct fab_err *err)
{
	return fab_rdma_arrivals_parse(arg, &((struct rdma_params *)params)->arrivals,
				       err);
}

int rdma_take_windows(void *params, const char *arg, struct fab_err *err)
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
	uint32_t *const all[] = {&w->node,  &w->context, &w->msgid,  &w->number,
				 &w->timer, &w->epoch,	 &w->address};
	uint32_t i = fab_choices_find(FAB_NAME_LIST("node", "context", "msgid", "number",
						    "timer", "epoch", "address"),
				      name, len);

	return i == FAB_NONE ? NULL : all[i];
}

int rdma_read_bits(struct rdma_params *p, struct fab_err *err)
{
	for (const char *at = p->bits; at; at++) {
		size_t len = strcspn(at, ","), name_len = strcspn(at, "=,");
		uint32_t *width = width_of(&p->widths, at, name_len);
		uint64_t n;

		if (!width || name_len == len ||
		    !fab_parse_u64(at + name_len + 1, len - name_len - 1, 0, 64, &n))
			return fab_fail(
				err, EINVAL,
				"--set bits: '%.*s': expected FIELD=BITS, such as number=24, of node, context, msgid, number, timer, epoch and address, 0 to 64 bits",
				(int)len, at);
		*width = (uint32_t)n;
		at += len;
		if (!*at)
			break;
	}
	return 0;
}

int rdma_take_pattern(void *params, const char *arg, struct fab_err *err)
{
	struct rdma_params *p = params;
	int rc = fab_rdma_pattern_check(arg, err);

	p->pattern = arg;
	if (!rc)
		p->has_pattern_file = fab_cli_note_spec("--pattern", arg);
	return rc;
}

/* SHARE:KIND:TIME */
int rdma_take_delay(void *params, const char *arg, struct fab_err *err)
{
	struct fab_rdma_impairments *bad = &((struct rdma_params *)params)->sim.bad;
	size_t share = strcspn(arg, ":"), kind;
	const char *at = arg + share;
	uint32_t row;
	uint64_t ps;

	kind = *at ? strcspn(at + 1, ":") : 0;
	if (!*at || !at[1 + kind] || !fab_parse_real(arg, share, 0, 1, &bad->delayed))
		goto bad;
	row = fab_choices_find(&fab_rdma_delay_choices, at + 1, kind);
	at += 2 + kind;
	if (row == FAB_NONE ||
	    fab_parse_time_ps(at, strlen(at), (uint64_t)(MAX_DELAY_NS * 1000), &ps, NULL))
		goto bad;
	bad->delay = (enum fab_rdma_delay)row;
	bad->delay_ps = ps;
	return 0;
bad:
	return fab_fail(
		err, EINVAL,
		"'%s': expected SHARE:KIND:TIME as 0.1:U:2.7us, a share from 0 to 1, U (uniform up to TIME), E (exponential, mean TIME) or F (TIME), up to 1s",
		arg);
}

int rdma_take_buffer(void *params, const char *arg, struct fab_err *err)
{
	struct rdma_params *p = params;
	int rc;

	if (!strcmp(arg, "infinite")) {
		p->buffer = 0;
		return 0;
	}
	rc = fab_parse_size_bytes(arg, strlen(arg), &p->buffer, err);
	if (!rc && p->buffer > UINT32_MAX)
		rc = fab_fail(err, EINVAL, "'%s': 4 GiB are the most", arg);
	return rc;
}

int rdma_take_over(void *params, const char *arg, struct fab_err *err)
{
	return fab_rdma_axes_parse(&((struct rdma_params *)params)->axes, arg, err);
}

static int read_span(const char *text, struct fab_rdma_outage *out, struct fab_err *err)
{
	size_t from = strcspn(text, "-");
	const char *to = text + from;

	if (*to &&
	    !fab_parse_time_ps(text, from, FAB_RDMA_TIME_MAX_PS, &out->from_ps, NULL) &&
	    !fab_parse_time_ps(to + 1, strlen(to + 1), FAB_RDMA_TIME_MAX_PS,
			       &out->until_ps, NULL) &&
	    out->from_ps < out->until_ps)
		return 0;
	return fab_fail(
		err, EINVAL,
		"'%s': expected FROM-UNTIL as 10us-50us, or LINK@10us-50us with a link as --fail-link has it, or a switch",
		text);
}

int rdma_check_link_down(const char *arg, struct fab_err *err)
{
	const char *at = strrchr(arg, '@');
	struct fab_rdma_outage unused;

	return read_span(at ? at + 1 : arg, &unused, err);
}

int rdma_read_link_down(const struct rdma_params *p, const struct fab_fabric *f,
			struct fab_rdma_outage *out, struct fab_err *err)
{
	for (size_t i = 0; i < p->link_down.n; i++) {
		const char *arg = p->link_down.v[i], *at = strrchr(arg, '@');
		FAB_AUTO(fab_faults_free_at) struct fab_faults *named = fab_faults_new(f);
		FAB_AUTOFREE char *link =
			at ? fab_strndup(arg, (size_t)(at - arg)) : NULL;
		int rc = read_span(at ? at + 1 : arg, &out[i], err);

		out[i].cable = FAB_NONE;
		/* a link has a port; else it is a switch */
		out[i].is_switch = link && !strchr(link, ':') && !strchr(link, '/');
		if (!rc && link)
			rc = out[i].is_switch ? fab_faults_add_switches(named, link, err)
					      : fab_faults_add_cables(named, link, err);
		if (!rc && link && named->named.n != 1)
			rc = fab_fail(err, EINVAL, "'%s' is %zu %s: expected one", link,
				      named->named.n,
				      out[i].is_switch ? "switches" : "links");
		if (!rc && link)
			out[i].cable = named->named.v[0].id;
		if (rc) {
			fab_err_prefix(err, "--link-down");
			return rc;
		}
	}
	return 0;
}
