/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma: values of options that have forms of their own. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
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

int rdma_take_bits(void *params, const char *arg, struct fab_err *err)
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

int rdma_take_size(void *params, const char *arg, struct fab_err *err)
{
	return fab_parse_size_bytes(arg, strlen(arg),
				    &((struct rdma_params *)params)->bytes, err);
}

int rdma_take_pattern(void *params, const char *arg, struct fab_err *err)
{
	struct rdma_params *p = params;
	const struct fab_rdma_pattern *pattern;
	const char *argument;
	int rc = fab_rdma_pattern_check(arg, &pattern, &argument, err);

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
		"'%s': expected SHARE:KIND:TIME as 0.1:U:2.7us, a share from 0 to "
		"1, U (uniform up to TIME), E (exponential, mean TIME) or F "
		"(TIME), up to 1s",
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

int rdma_take_credit(void *params, const char *arg, struct fab_err *err)
{
	struct rdma_params *p = params;

	if (fab_parse_u64(arg, strlen(arg), 0, FAB_RDMA_WINDOW_MAX, &p->credit))
		return 0;
	return fab_fail(err, EINVAL, "'%s' is not a number from 0 to %d", arg,
			FAB_RDMA_WINDOW_MAX);
}

/* A number from `least` on, or auto, which is `adaptive`. */
static int take_adaptive(const char *arg, uint64_t least, uint32_t adaptive,
			 uint32_t *out, struct fab_err *err)
{
	uint64_t n = adaptive;

	if (strcmp(arg, "auto") &&
	    !fab_parse_u64(arg, strlen(arg), least, FAB_RDMA_WINDOW_MAX, &n))
		return fab_fail(err, EINVAL,
				"'%s': expected auto or a number from %d to %d", arg,
				(int)least, FAB_RDMA_WINDOW_MAX);
	*out = (uint32_t)n;
	return 0;
}

int rdma_take_gap_nak(void *params, const char *arg, struct fab_err *err)
{
	return take_adaptive(arg, 0, RDMA_GAP_ADAPTS,
			     &((struct rdma_params *)params)->gap, err);
}

int rdma_take_nacks(void *params, const char *arg, struct fab_err *err)
{
	return take_adaptive(arg, 1, 0, &((struct rdma_params *)params)->sim.nacks, err);
}

int rdma_take_cap(void *params, const char *arg, struct fab_err *err)
{
	struct fab_rdma_params *sim = &((struct rdma_params *)params)->sim;
	uint64_t n;

	if (!strcmp(arg, "bdp"))
		sim->cap = 0;
	else if (!strcmp(arg, "none"))
		sim->cap = UINT32_MAX;
	else if (fab_parse_u64(arg, strlen(arg), 1, UINT32_MAX - 1, &n))
		sim->cap = (uint32_t)n;
	else
		return fab_fail(err, EINVAL,
				"'%s': expected bdp, none or a number of packets", arg);
	return 0;
}

const char *const rdma_axis_name[RDMA_AXES] = {
	[RDMA_LOSS] = "loss",	    [RDMA_DROP_CONTROL] = "drop-control",
	[RDMA_DELAYED] = "delayed", [RDMA_DELAY_NS] = "delay",
	[RDMA_SIZE] = "size",	    [RDMA_MTU] = "mtu",
	[RDMA_WINDOW] = "W",	    [RDMA_SENDER_WINDOW] = "sender-window",
	[RDMA_RTO_NS] = "rto",	    [RDMA_CONTEXTS] = "contexts"};

/* What an axis may be, and what its values are. */
static const struct {
	double low, high;
	enum { SHARE, NUMBER, BYTES, TIME } kind;
} axis_range[RDMA_AXES] = {[RDMA_LOSS] = {0, 1, SHARE},
			   [RDMA_DROP_CONTROL] = {0, 1, SHARE},
			   [RDMA_DELAYED] = {0, 1, SHARE},
			   [RDMA_DELAY_NS] = {0, 1e9, TIME},
			   [RDMA_SIZE] = {1, 1125899906842624.0, BYTES},
			   [RDMA_MTU] = {256, 4096, NUMBER},
			   [RDMA_WINDOW] = {1, FAB_RDMA_WINDOW_MAX, NUMBER},
			   [RDMA_SENDER_WINDOW] = {1, RDMA_MAX_SENDER_WINDOW, NUMBER},
			   [RDMA_RTO_NS] = {1, 1e10, TIME},
			   [RDMA_CONTEXTS] = {1, FAB_RDMA_CONTEXTS_MAX, NUMBER}};

static bool parse_value(enum rdma_axis axis, const char *text, size_t len, double *out)
{
	uint64_t n;

	switch (axis_range[axis].kind) {
	case SHARE:
		return fab_parse_real(text, len, axis_range[axis].low,
				      axis_range[axis].high, out);
	case NUMBER:
		if (!fab_parse_u64(text, len, 0, UINT32_MAX, &n))
			return false;
		break;
	case BYTES:
		if (fab_parse_size_bytes(text, len, &n, NULL))
			return false;
		break;
	default:
		if (fab_parse_time_ns(text, len, (uint64_t)axis_range[axis].high, &n,
				      NULL))
			return false;
	}
	*out = (double)n;
	return *out >= axis_range[axis].low && *out <= axis_range[axis].high;
}

static bool push(struct rdma_values *values, double v)
{
	if (values->n == RDMA_MAX_VALUES)
		return false;
	values->v[values->n++] = v;
	return true;
}

/* FROM:TO:STEP */
static bool take_steps(struct rdma_values *values, const char *text, size_t len)
{
	size_t first = strcspn(text, ":"), second;
	double from, to, step;
	const char *at;

	if (first >= len)
		return false;
	at = text + first + 1;
	second = strcspn(at, ":");
	if (first + 1 + second >= len || !parse_value(values->axis, text, first, &from) ||
	    !parse_value(values->axis, at, second, &to))
		return false;
	at += second + 1;
	if (axis_range[values->axis].kind == SHARE
		    ? !fab_parse_real(at, len - (size_t)(at - text), 1e-12, 1, &step)
		    : !parse_value(values->axis, at, len - (size_t)(at - text), &step))
		return false;
	if (from > to || !(step > 0) || (to - from) / step > RDMA_MAX_VALUES - 1)
		return false;
	for (size_t i = 0; i <= (size_t)((to - from) / step + 1e-9); i++)
		/* whole steps: nothing is lost in adding */
		if (!push(values, fmin(from + (double)i * step, to)))
			return false;
	return true;
}

/* FROM..TO: doubled each time, TO itself last */
static bool take_doubling(struct rdma_values *values, const char *text, size_t len)
{
	const char *dots = memmem(text, len, "..", 2);
	double from, to;

	if (!dots || !parse_value(values->axis, text, (size_t)(dots - text), &from) ||
	    !parse_value(values->axis, dots + 2, len - (size_t)(dots + 2 - text), &to) ||
	    !(from > 0) || from > to)
		return false;
	for (double v = from; v < to; v *= 2)
		if (!push(values, v))
			return false;
	return push(values, to);
}

/* Values between slashes, one or more. */
static bool take_list(struct rdma_values *values, const char *text, size_t len)
{
	for (const char *at = text, *end = text + len; at <= end;) {
		size_t n = 0;
		double v;

		while (at + n < end && at[n] != '/')
			n++;
		if (!parse_value(values->axis, at, n, &v) || !push(values, v))
			return false;
		at += n + 1;
	}
	return true;
}

static bool take_values(struct rdma_values *values, const char *text, size_t len)
{
	if (memchr(text, ':', len))
		return take_steps(values, text, len);
	if (memmem(text, len, "..", 2))
		return take_doubling(values, text, len);
	return take_list(values, text, len);
}

static enum rdma_axis axis_of(const char *name, size_t len)
{
	enum rdma_axis axis = 0;

	if (len == 6 && !memcmp(name, "window", 6))
		return RDMA_WINDOW;
	while (axis < RDMA_AXES && (strlen(rdma_axis_name[axis]) != len ||
				    memcmp(rdma_axis_name[axis], name, len) != 0))
		axis++;
	return axis;
}

static int take_axis(struct rdma_params *p, const char *text, size_t len,
		     struct fab_err *err)
{
	size_t name = strcspn(text, "=,");
	struct rdma_values values = {.axis = axis_of(text, name)};

	if (name >= len || values.axis == RDMA_AXES)
		return fab_fail(err, EINVAL,
				"'%.*s': expected AXIS=VALUES of loss, drop-control, "
				"delayed, delay, size, mtu, W, sender-window, rto and "
				"contexts",
				(int)len, text);
	for (size_t i = 0; i < p->axes.n; i++)
		if (p->axes.v[i].axis == values.axis)
			return fab_fail(err, EINVAL, "%s is there twice",
					rdma_axis_name[values.axis]);
	if (!take_values(&values, text + name + 1, len - name - 1))
		return fab_fail(err, EINVAL,
				"'%.*s': expected FROM:TO:STEP, FROM..TO (doubled each "
				"time) or A/B/C within the range of --%s, at most %d "
				"values",
				(int)len, text,
				values.axis == RDMA_WINDOW ? "window"
							   : rdma_axis_name[values.axis],
				RDMA_MAX_VALUES);
	FAB_PUSH(&p->axes, values);
	return 0;
}

int rdma_take_over(void *params, const char *arg, struct fab_err *err)
{
	for (const char *at = arg;; at++) {
		size_t len = strcspn(at, ",");
		int rc = take_axis(params, at, len, err);

		if (rc)
			return rc;
		at += len;
		if (!*at)
			return 0;
	}
}

void rdma_add_axis(struct rdma_params *p, enum rdma_axis axis, const double *v, size_t n)
{
	struct rdma_values values = {.axis = axis, .n = n};

	memcpy(values.v, v, n * sizeof(*v));
	for (size_t i = 0; i < p->axes.n; i++)
		if (p->axes.v[i].axis == axis)
			return;
	FAB_PUSH(&p->axes, values);
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
	return fab_fail(err, EINVAL,
			"'%s': expected FROM-UNTIL as 10us-50us, or "
			"LINK@10us-50us with a link as --fail-link has it",
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
		struct fab_faults *named = fab_faults_new(f);
		char *link = at ? fab_strndup(arg, (size_t)(at - arg)) : NULL;
		int rc = read_span(at ? at + 1 : arg, &out[i], err);

		out[i].cable = FAB_NONE;
		if (!rc && link)
			rc = fab_faults_add_cables(named, link, err);
		if (!rc && link && named->named.n != 1)
			rc = fab_fail(err, EINVAL, "'%s' is %zu links: expected one",
				      link, named->named.n);
		if (!rc && link)
			out[i].cable = named->named.v[0].id;
		fab_faults_free(named);
		free(link);
		if (rc) {
			fab_err_prefix(err, "--link-down");
			return rc;
		}
	}
	return 0;
}
