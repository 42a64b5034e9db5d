/* SPDX-License-Identifier: BSD-2-Clause */
/* Cables: widths and speeds against each other and against the usual, self-loops. */
#include "fabric/check_impl.h"
#include "fabric/rates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const class_names[FAB_N_CABLE_CLASSES] = {
	"switch links", "host links", "aggregation links", "other links"};

enum fab_cable_class fab_cable_class(const struct fab_fabric *f, fab_cable_id cable)
{
	uint32_t a = f->port_node[f->cable_a[cable]], b = f->port_node[f->cable_b[cable]];

	if (cable < f->n_switch_links)
		return a == b ? FAB_CABLE_OTHER : FAB_CABLE_SWITCH;
	if (cable >= f->n_switch_links + f->n_host_links)
		return FAB_CABLE_OTHER;
	return f->node_kind[b] == FAB_AGGREGATION ? FAB_CABLE_AGGREGATION
						  : FAB_CABLE_HOST;
}

static uint8_t lower_known(uint8_t a, uint8_t b)
{
	if (!a || !b)
		return a ? a : b;
	return a < b ? a : b;
}

uint8_t fab_cable_width(const struct fab_fabric *f, fab_cable_id cable)
{
	return lower_known(f->port_width[f->cable_a[cable]],
			   f->port_width[f->cable_b[cable]]);
}

uint8_t fab_cable_speed(const struct fab_fabric *f, fab_cable_id cable)
{
	return lower_known(f->port_speed[f->cable_a[cable]],
			   f->port_speed[f->cable_b[cable]]);
}

/* The commonest value but 0; of equally common ones the lowest. */
static uint8_t commonest(const uint32_t *histogram)
{
	uint8_t best = 0;

	for (unsigned v = 1; v < 256; v++)
		if (histogram[v] && (!best || histogram[v] > histogram[best]))
			best = (uint8_t)v;
	return best;
}

static void find_usual(struct fab_checker *c)
{
	static const uint32_t zero[FAB_N_CABLE_CLASSES][256];
	uint32_t widths[FAB_N_CABLE_CLASSES][256], speeds[FAB_N_CABLE_CLASSES][256];

	memcpy(widths, zero, sizeof(widths));
	memcpy(speeds, zero, sizeof(speeds));
	for (uint32_t i = 0; i < c->f->n_cables; i++) {
		enum fab_cable_class class = fab_cable_class(c->f, i);

		c->check->n_cables[class]++;
		widths[class][fab_cable_width(c->f, i)]++;
		speeds[class][fab_cable_speed(c->f, i)]++;
	}
	for (unsigned class = 0; class < FAB_N_CABLE_CLASSES; class ++) {
		c->check->usual_width[class] = commonest(widths[class]);
		c->check->usual_speed[class] = commonest(speeds[class]);
	}
}

/* A cable in words: both its ends, cut to fit. */
static const char *cable_text(const struct fab_fabric *f, uint32_t cable, char out[512])
{
	uint32_t a = f->cable_a[cable], b = f->cable_b[cable];

	snprintf(out, 512, "cable from port %u of \"%.180s\" to port %u of \"%.180s\"",
		 f->port_num[a], fab_node_name(f, f->port_node[a]), f->port_num[b],
		 fab_node_name(f, f->port_node[b]));
	return out;
}

static void check_width(struct fab_checker *c, uint32_t cable, struct fab_finding at)
{
	const struct fab_fabric *f = c->f;
	uint8_t a = f->port_width[f->cable_a[cable]],
		b = f->port_width[f->cable_b[cable]];
	enum fab_cable_class class = fab_cable_class(f, cable);
	uint8_t width = fab_cable_width(f, cable), usual = c->check->usual_width[class];
	char text[512];

	if (a && b && a != b)
		fab_checker_add(c, FAB_PROBLEM, "width-mismatch", at,
				"%s: one end says %ux, the other %ux",
				cable_text(f, cable, text), a, b);
	else if (class != FAB_CABLE_OTHER && width && width < usual)
		fab_checker_add(c, FAB_PROBLEM, "narrow-link", at,
				"%s: %ux, where %s usually have %ux",
				cable_text(f, cable, text), width, class_names[class],
				usual);
}

static void check_speed(struct fab_checker *c, uint32_t cable, struct fab_finding at)
{
	const struct fab_fabric *f = c->f;
	uint8_t a = f->port_speed[f->cable_a[cable]],
		b = f->port_speed[f->cable_b[cable]];
	enum fab_cable_class class = fab_cable_class(f, cable);
	uint8_t speed = fab_cable_speed(f, cable), usual = c->check->usual_speed[class];
	char text[512];

	if (a && b && a != b)
		fab_checker_add(c, FAB_PROBLEM, "speed-mismatch", at,
				"%s: one end says %s, the other %s",
				cable_text(f, cable, text), fab_speed_name(a),
				fab_speed_name(b));
	else if (class != FAB_CABLE_OTHER && speed && speed < usual)
		fab_checker_add(c, FAB_PROBLEM, "slow-link", at,
				"%s: %s, where %s usually have %s",
				cable_text(f, cable, text), fab_speed_name(speed),
				class_names[class], fab_speed_name(usual));
}

/* What was not compared is said: silence would mean that the rates are right. */
static void note_unknown_rates(struct fab_checker *c)
{
	const struct fab_rates rates = fab_rates_of(c->f, 0, c->f->n_cables);
	char *text = fab_rates_unknown_text(c->f, &rates);

	c->check->n_unknown_rates = rates.n_unknown;
	if (text)
		fab_checker_add(c, FAB_NOTE, "unknown-rate", FAB_AT_NODE(FAB_NONE),
				"of the cables %s: they were not compared", text);
	free(text);
}

void fab_check_links(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;

	find_usual(c);
	note_unknown_rates(c);
	for (uint32_t i = 0; i < f->n_cables; i++) {
		struct fab_finding at = {.node = f->port_node[f->cable_a[i]],
					 .port = f->cable_a[i],
					 .cable = i};

		check_width(c, i, at);
		check_speed(c, i, at);
		if (f->port_node[f->cable_a[i]] == f->port_node[f->cable_b[i]])
			fab_checker_add(
				c, FAB_NOTE, "self-loop", at,
				"ports %u and %u of \"%s\" are cabled to each other",
				f->port_num[f->cable_a[i]], f->port_num[f->cable_b[i]],
				fab_node_name(f, at.node));
	}
}
