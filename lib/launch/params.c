/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/params.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/lookup.h"
#include "base/num.h"
#include "base/text.h"
#include "launch_params.h"
#include "source/scan.h"

enum { MAX_CORES = 1 << 20, SHOWN = 40 };

static const struct {
	const char *name, *unit, *verbs;
	double low, high;
} constants[] = {
#define FAB_ROW(name, unit, verbs, low, high, help) {#name, unit, verbs, low, high},
	FAB_LAUNCH_CONSTANTS(FAB_ROW)
#undef FAB_ROW
};

static struct fab_choice constant_at(size_t i)
{
	return (struct fab_choice){.form = constants[i].name};
}

const struct fab_choices fab_launch_constants = {
	.what = "constant", .n = FAB_N_LAUNCH_CONSTANTS, .at = constant_at};

bool fab_launch_constant_is_of(enum fab_launch_constant constant, char verb)
{
	return strchr(constants[constant].verbs, verb) != NULL;
}

const char *fab_launch_constant_unit(enum fab_launch_constant constant)
{
	return constants[constant].unit;
}

const char *fab_origin_name(enum fab_origin origin)
{
	static const char *const names[] = {"measured", "survey", "assumed", "given"};

	return names[origin];
}

static bool is_word(struct fab_span w, const char *text)
{
	return fab_span_len(&w) == strlen(text) && !memcmp(w.p, text, strlen(text));
}

static int shown(struct fab_span w)
{
	return fab_span_len(&w) < SHOWN ? (int)fab_span_len(&w) : SHOWN;
}

struct reading {
	struct fab_launch_params *params;
	bool has_version, is_given[FAB_N_LAUNCH_CONSTANTS];
};

/* The rest of the line, cut to fit and made printable. */
static void take_rest(struct fab_span line, char *out, size_t size)
{
	size_t len = fab_span_len(&line);
	char raw[256];

	snprintf(raw, sizeof(raw), "%.*s", (int)(len < 255 ? len : 255), line.p);
	fab_text_safe(raw, out, size);
}

static int expected(const char *what, struct fab_span w, struct fab_err *err)
{
	if (!fab_span_len(&w))
		return fab_fail(err, EINVAL, "expected %s, found the end of the line",
				what);
	return fab_fail(err, EINVAL, "expected %s, found '%.*s'", what, shown(w), w.p);
}

/* Whole numbers: tree_width and fanout. */
static bool is_whole(uint32_t id)
{
	return id == FAB_CONST_tree_width || id == FAB_CONST_fanout;
}

static int read_value(uint32_t id, struct fab_span *line, struct fab_launch_value *out,
		      struct fab_err *err)
{
	struct fab_span w = fab_take_word(line);
	const char *dots;
	bool has_spread;
	size_t len;

	if (!fab_parse_real(w.p, fab_span_len(&w), constants[id].low, constants[id].high,
			    &out->value) ||
	    (is_whole(id) && out->value != trunc(out->value)))
		return fab_fail(
			err, EINVAL, "%s: expected a %s from %g to %g, found '%.*s'",
			constants[id].name, is_whole(id) ? "whole number" : "value",
			constants[id].low, constants[id].high, shown(w), w.p);
	w = fab_take_word(line);
	if (!is_word(w, constants[id].unit))
		return fab_fail(err, EINVAL, "%s: expected its unit, %s, found '%.*s'",
				constants[id].name, constants[id].unit, shown(w), w.p);
	/* "-", half a range, or LOW..HIGH with the value between */
	w = fab_take_word(line);
	dots = fab_span_len(&w) ? memmem(w.p, fab_span_len(&w), "..", 2) : NULL;
	len = dots ? (size_t)(dots - w.p) : 0;
	out->spread = (double)NAN;
	if (dots)
		has_spread = fab_parse_real(w.p, len, constants[id].low, out->value,
					    &out->low) &&
			     fab_parse_real(dots + 2, fab_span_len(&w) - len - 2,
					    out->value, constants[id].high, &out->high) &&
			     out->low < out->high;
	else
		has_spread = is_word(w, "-") ||
			     fab_parse_real(w.p, fab_span_len(&w), 0, 1e15, &out->spread);
	if (!has_spread)
		return fab_fail(
			err, EINVAL,
			"%s: expected its spread, LOW..HIGH around its value or -, found '%.*s'",
			constants[id].name, shown(w), w.p);
	w = fab_take_word(line);
	for (out->origin = 0; out->origin < FAB_N_ORIGINS; out->origin++)
		if (is_word(w, fab_origin_name(out->origin)))
			break;
	if (out->origin == FAB_N_ORIGINS)
		return fab_fail(
			err, EINVAL,
			"%s: expected its origin, measured, survey, assumed or given, found '%.*s'",
			constants[id].name, shown(w), w.p);
	take_rest(*line, out->source, sizeof(out->source));
	return 0;
}

static int use_line(void *context, struct fab_item item, struct fab_err *err)
{
	struct fab_span line = {item.text, item.text + item.len};
	struct reading *r = context;
	struct fab_span name = fab_take_word(&line), w;
	struct fab_span rest = line;
	double percent;
	uint64_t n;
	uint32_t id;

	w = fab_take_word(&rest);
	if (!r->has_version) {
		if (!is_word(name, "fabric-launch-params"))
			return fab_fail(
				err, EINVAL,
				"no parameter file: expected the line 'fabric-launch-params %d' first, found '%.*s'",
				FAB_LAUNCH_PARAMS_VERSION, shown(name), name.p);
		if (!is_word(w, "1"))
			return fab_fail(
				err, EINVAL,
				"a parameter file of version '%.*s': this is version %d",
				shown(w), w.p, FAB_LAUNCH_PARAMS_VERSION);
		w = fab_take_word(&rest);
		if (fab_span_len(&w))
			return fab_fail(
				err, EINVAL,
				"expected nothing behind the version, found '%.*s'",
				shown(w), w.p);
		r->has_version = true;
		return 0;
	}
	/* the machine of the measurement, of which only the host is kept */
	if (is_word(name, "steal") &&
	    !fab_parse_real(w.p, fab_span_len(&w), 0, 100, &percent))
		return expected("a percentage after steal", w, err);
	if (is_word(name, "cores") &&
	    !fab_parse_u64(w.p, fab_span_len(&w), 1, MAX_CORES, &n))
		return expected("a number after cores", w, err);
	if (is_word(name, "host"))
		take_rest(line, r->params->host, sizeof(r->params->host));
	if (is_word(name, "host") || is_word(name, "date") || is_word(name, "cores") ||
	    is_word(name, "steal"))
		return fab_span_len(&w) ? 0 : expected("a value", w, err);
	id = fab_choices_find(&fab_launch_constants, name.p, fab_span_len(&name));
	if (id == FAB_NONE)
		return fab_choices_refuse(&fab_launch_constants, name.p,
					  fab_span_len(&name), NULL, err);
	if (r->is_given[id])
		return fab_fail(err, EINVAL, "%s is there twice", constants[id].name);
	r->is_given[id] = true;
	r->params->of[id] = (struct fab_launch_value){0};
	return read_value(id, &line, &r->params->of[id], err);
}

int fab_launch_params_read(struct fab_launch_params *params, const char *file,
			   const char *text, size_t len, struct fab_err *err)
{
	struct fab_launch_params new = *params;
	struct reading r = {.params = &new};
	int rc = fab_list_lines(file, text, len, use_line, &r, err);

	if (!rc && !r.has_version)
		rc = fab_fail(
			err, EINVAL,
			"%s: no parameter file: expected the line 'fabric-launch-params %d' first",
			file, FAB_LAUNCH_PARAMS_VERSION);
	if (!rc)
		*params = new;
	return rc;
}

void fab_launch_params_init(struct fab_launch_params *out)
{
	struct fab_err err;
	int rc;

	*out = (struct fab_launch_params){0};
	rc = fab_launch_params_read(out, "launch.params", launch_params_text,
				    sizeof(launch_params_text) - 1, &err);
	/* a test holds the file to this */
	assert(!rc);
	(void)rc;
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++)
		out->of[i].is_default = true;
}

bool fab_launch_limits(const struct fab_launch_value *v, double limits[2])
{
	bool has_limits = v->low < v->high;

	limits[0] = has_limits ? v->low : fmax(0, v->value - v->spread);
	limits[1] = has_limits ? v->high : v->value + v->spread;
	return v->origin == FAB_ASSUMED && (has_limits || v->spread > 0);
}

int fab_launch_params_set(struct fab_launch_params *params,
			  enum fab_launch_constant constant, double value,
			  struct fab_err *err)
{
	if (is_whole(constant) && value != trunc(value))
		return fab_fail(err, EINVAL, "%s: expected a whole number, not %g",
				constants[constant].name, value);
	params->of[constant] = (struct fab_launch_value){
		.value = value, .spread = (double)NAN, .origin = FAB_GIVEN};
	return 0;
}

int fab_launch_range_find(const struct fab_launch_params *params, const bool *uses,
			  double base, fab_launch_figure_fn *figure, void *context,
			  struct fab_launch_range *out, struct fab_err *err)
{
	struct fab_launch_params with = *params;
	double coarse, widest = 0;
	int rc = figure(context, params, &coarse, err);

	*out = (struct fab_launch_range){.low = (double)NAN,
					 .high = (double)NAN,
					 .by = FAB_N_LAUNCH_CONSTANTS,
					 .least = base,
					 .most = base};
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS && !rc; i++) {
		const struct fab_launch_value *v = &params->of[i];
		double limits[2], low = base, high = base;

		if (!fab_launch_limits(v, limits) || (uses && !uses[i]))
			continue;
		for (size_t k = 0; k < 2 && !rc; k++) {
			double at = 0;

			with.of[i].value = limits[k];
			rc = figure(context, &with, &at, err);
			low = fmin(low, base + at - coarse);
			high = fmax(high, base + at - coarse);
		}
		with.of[i].value = v->value;
		out->least = fmin(out->least, low);
		out->most = fmax(out->most, high);
		out->width[i] = high - low;
		if (high - low > widest) {
			widest = high - low;
			out->low = low;
			out->high = high;
			out->by = (enum fab_launch_constant)i;
		}
	}
	return rc;
}
