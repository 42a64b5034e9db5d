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

enum { MAX_CORES = 1 << 20, SHOWN = 40 };

static const struct {
	const char *name, *unit;
	double low, high;
} constants[] = {
#define FAB_ROW(name, unit, low, high, help) {#name, unit, low, high},
	FAB_LAUNCH_CONSTANTS(FAB_ROW)
#undef FAB_ROW
};

static struct fab_choice constant_at(size_t i)
{
	return (struct fab_choice){.form = constants[i].name};
}

const struct fab_choices fab_launch_constants = {
	.what = "constant", .n = FAB_N_LAUNCH_CONSTANTS, .at = constant_at};

const char *fab_launch_constant_unit(enum fab_launch_constant constant)
{
	return constants[constant].unit;
}

const char *fab_origin_name(enum fab_origin origin)
{
	static const char *const names[] = {"measured", "survey", "assumed", "given"};

	return names[origin];
}

struct word {
	const char *at;
	size_t len;
};

static bool is_word(struct word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.at, text, w.len);
}

static int shown(struct word w)
{
	return w.len < SHOWN ? (int)w.len : SHOWN;
}

struct reading {
	struct fab_launch_params *params;
	bool has_version, is_given[FAB_N_LAUNCH_CONSTANTS];
};

/* The next word of a line; empty at its end. */
static struct word next_word(struct fab_item *line)
{
	static const char blanks[] = " \t";
	struct word w;

	while (line->len && memchr(blanks, *line->text, 2)) {
		line->text++;
		line->len--;
	}
	w.at = line->text;
	for (w.len = 0; w.len < line->len && !memchr(blanks, w.at[w.len], 2);)
		w.len++;
	line->text += w.len;
	line->len -= w.len;
	return w;
}

/* The rest of the line, cut to fit and made printable. */
static void take_rest(struct fab_item line, char *out, size_t size)
{
	struct word w = next_word(&line);
	char raw[256];

	snprintf(raw, sizeof(raw), "%.*s",
		 (int)(w.len + line.len < 255 ? w.len + line.len : 255), w.at);
	fab_text_safe(raw, out, size);
}

static int expected(const char *what, struct word w, struct fab_err *err)
{
	if (!w.len)
		return fab_fail(err, EINVAL, "expected %s, found the end of the line",
				what);
	return fab_fail(err, EINVAL, "expected %s, found '%.*s'", what, shown(w), w.at);
}

static int read_version(struct reading *r, struct fab_item *line, struct fab_err *err)
{
	struct word w = next_word(line);

	if (!is_word(w, "fabric-launch-params"))
		return fab_fail(
			err, EINVAL,
			"no parameter file: expected the line 'fabric-launch-params %d' first, found '%.*s'",
			FAB_LAUNCH_PARAMS_VERSION, shown(w), w.at);
	w = next_word(line);
	if (!is_word(w, "1"))
		return fab_fail(err, EINVAL,
				"a parameter file of version '%.*s': this is version %d",
				shown(w), w.at, FAB_LAUNCH_PARAMS_VERSION);
	w = next_word(line);
	if (w.len)
		return fab_fail(err, EINVAL,
				"expected nothing behind the version, found '%.*s'",
				shown(w), w.at);
	r->has_version = true;
	return 0;
}

/* host, cores, steal, date: of these only the host is kept. 1: it is none of them. */
static int read_machine(struct fab_launch_params *p, struct word name,
			struct fab_item *line, struct fab_err *err)
{
	struct fab_item rest = *line;
	struct word w = next_word(&rest);
	double percent;
	uint64_t n;

	if (is_word(name, "steal") && !fab_parse_real(w.at, w.len, 0, 100, &percent))
		return expected("a percentage after steal", w, err);
	if (is_word(name, "cores") && !fab_parse_u64(w.at, w.len, 1, MAX_CORES, &n))
		return expected("a number after cores", w, err);
	if (is_word(name, "host"))
		take_rest(*line, p->host, sizeof(p->host));
	else if (!is_word(name, "date") && !is_word(name, "cores") &&
		 !is_word(name, "steal"))
		return 1;
	return w.len ? 0 : expected("a value", w, err);
}

/* Whole numbers: tree_width and fanout. */
static bool is_whole(uint32_t id)
{
	return id == FAB_CONST_tree_width || id == FAB_CONST_fanout;
}

/* "-", half a range, or LOW..HIGH with the value between. */
static bool take_spread(struct word w, uint32_t id, struct fab_launch_value *out)
{
	const char *dots = memmem(w.at, w.len, "..", 2);
	size_t len = dots ? (size_t)(dots - w.at) : 0;

	out->spread = (double)NAN;
	if (is_word(w, "-"))
		return true;
	if (!dots)
		return fab_parse_real(w.at, w.len, 0, 1e15, &out->spread);
	return fab_parse_real(w.at, len, constants[id].low, out->value, &out->low) &&
	       fab_parse_real(dots + 2, w.len - len - 2, out->value, constants[id].high,
			      &out->high) &&
	       out->low < out->high;
}

static int read_value(uint32_t id, struct fab_item *line, struct fab_launch_value *out,
		      struct fab_err *err)
{
	struct word w = next_word(line);

	if (!fab_parse_real(w.at, w.len, constants[id].low, constants[id].high,
			    &out->value) ||
	    (is_whole(id) && out->value != trunc(out->value)))
		return fab_fail(
			err, EINVAL, "%s: expected a %s from %g to %g, found '%.*s'",
			constants[id].name, is_whole(id) ? "whole number" : "value",
			constants[id].low, constants[id].high, shown(w), w.at);
	w = next_word(line);
	if (!is_word(w, constants[id].unit))
		return fab_fail(err, EINVAL, "%s: expected its unit, %s, found '%.*s'",
				constants[id].name, constants[id].unit, shown(w), w.at);
	w = next_word(line);
	if (!take_spread(w, id, out))
		return fab_fail(
			err, EINVAL,
			"%s: expected its spread, LOW..HIGH around its value or -, found '%.*s'",
			constants[id].name, shown(w), w.at);
	w = next_word(line);
	for (out->origin = 0; out->origin < FAB_N_ORIGINS; out->origin++)
		if (is_word(w, fab_origin_name(out->origin)))
			break;
	if (out->origin == FAB_N_ORIGINS)
		return fab_fail(
			err, EINVAL,
			"%s: expected its origin, measured, survey, assumed or given, found '%.*s'",
			constants[id].name, shown(w), w.at);
	take_rest(*line, out->source, sizeof(out->source));
	return 0;
}

static int use_line(void *context, struct fab_item line, struct fab_err *err)
{
	struct reading *r = context;
	struct word name;
	uint32_t id;
	int rc;

	if (!r->has_version)
		return read_version(r, &line, err);
	name = next_word(&line);
	rc = read_machine(r->params, name, &line, err);
	if (rc <= 0)
		return rc;
	id = fab_choices_find(&fab_launch_constants, name.at, name.len);
	if (id == FAB_NONE)
		return fab_choices_refuse(&fab_launch_constants, name.at, name.len, NULL,
					  err);
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
					 .least_by = FAB_N_LAUNCH_CONSTANTS,
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
		if (low < out->least) {
			out->least = low;
			out->least_by = (enum fab_launch_constant)i;
		}
		out->most = fmax(out->most, high);
		if (high - low > widest) {
			widest = high - low;
			out->low = low;
			out->high = high;
			out->by = (enum fab_launch_constant)i;
		}
	}
	return rc;
}
