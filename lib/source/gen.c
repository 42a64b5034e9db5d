/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/gen.h"

#include "base/mem.h"
#include "source/gen/families.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Adding a family: its file, families.h and a line here. */
static const struct fab_gen_family *const families[] = {
	&fab_gen_fattree,   &fab_gen_pgft,	 &fab_gen_torus,  &fab_gen_mesh,
	&fab_gen_dragonfly, &fab_gen_kfat,	 &fab_gen_hyperx, &fab_gen_random,
	&fab_gen_bluelight, &fab_gen_taihulight,
};

/* Keys that every family takes, behind its own. */
enum { WIDTH, SPEED, PREFIX, N_COMMON };

static const struct fab_gen_key common[N_COMMON] = {
	[WIDTH] = {"width", FAB_GEN_NUMBER, .min = 1, .max = 12, .fallback = 4,
		   .help = "lanes: 1, 2, 4, 8 or 12"},
	[SPEED] = {"speed", FAB_GEN_WORD, .help = "SDR to XDR"},
	[PREFIX] = {"name-prefix", FAB_GEN_WORD, .help = "begins all names"},
};

static const struct fab_gen_family *find_family(const char *name, size_t len)
{
	for (size_t i = 0; i < FAB_COUNT(families); i++)
		if (strlen(families[i]->name) == len &&
		    !memcmp(families[i]->name, name, len))
			return families[i];
	return NULL;
}

static int fail_family(const char *name, size_t len, struct fab_err *err)
{
	char known[256];
	size_t at = 0;

	known[0] = '\0';
	for (size_t i = 0; i < FAB_COUNT(families) && at < sizeof(known); i++)
		at += (size_t)snprintf(known + at, sizeof(known) - at, " %s",
				       families[i]->name);
	return fab_fail(err, EINVAL, "gen:%.*s: there is no such kind; the kinds are:%s",
			(int)(len < 40 ? len : 40), name, known);
}

static bool is_word(const char *text, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
				      "YZ0123456789-_.";

	for (size_t i = 0; i < len; i++)
		if (!text[i] || !strchr(allowed, text[i]))
			return false;
	return true;
}

/* The word of a value, shortened for a message. */
static int shown(const struct fab_gen_value *value)
{
	return (int)(value->word_len < 40 ? value->word_len : 40);
}

static int take_speed(struct fab_gen_net *net, const struct fab_gen_value *value,
		      struct fab_err *err)
{
	net->speed = FAB_EDR;
	if (!value->is_given)
		return 0;
	for (int s = FAB_SDR; s <= FAB_XDR; s++) {
		const char *name = fab_speed_name((enum fab_speed)s);

		if (strlen(name) == value->word_len &&
		    !strncasecmp(name, value->word, value->word_len)) {
			net->speed = (uint8_t)s;
			return 0;
		}
	}
	return fab_fail(err, EINVAL,
			"gen:%s: speed=%.*s: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or "
			"XDR is needed",
			net->kind, shown(value), value->word);
}

static int take_common(struct fab_gen_net *net, const struct fab_gen_value *values,
		       struct fab_err *err)
{
	const struct fab_gen_value *prefix = &values[PREFIX];

	net->width = (uint8_t)values[WIDTH].number;
	if (!strchr("\1\2\4\10\14", net->width))
		return fab_fail(err, EINVAL,
				"gen:%s: width=%d: 1, 2, 4, 8 or 12 is needed", net->kind,
				net->width);
	net->prefix = "";
	if (prefix->is_given) {
		if (prefix->word_len > FAB_GEN_PREFIX_MAX ||
		    !is_word(prefix->word, prefix->word_len))
			return fab_fail(err, EINVAL,
					"gen:%s: name-prefix=%.*s: at most %d letters, "
					"digits, '-', '_' and '.' are needed",
					net->kind, shown(prefix), prefix->word,
					FAB_GEN_PREFIX_MAX);
		net->prefix = prefix->word;
		net->prefix_len = prefix->word_len;
	}
	return take_speed(net, &values[SPEED], err);
}

static int build(struct fab_gen_net *net, const struct fab_gen_family *family,
		 const char *params, struct fab_err *err)
{
	struct fab_gen_key keys[FAB_GEN_KEYS_MAX];
	struct fab_gen_value values[FAB_GEN_KEYS_MAX];
	size_t n = family->n_keys;
	int rc;

	if (n)
		memcpy(keys, family->keys, n * sizeof(*keys));
	memcpy(keys + n, common, sizeof(common));
	rc = fab_gen_parse(family->name, keys, n + N_COMMON, params, values, err);
	if (!rc)
		rc = take_common(net, values + n, err);
	if (!rc)
		rc = family->build(net, values, err);
	return rc;
}

int fab_gen_fill(struct fab_builder *b, const char *spec, struct fab_err *err)
{
	size_t len = strcspn(spec, ":");
	const struct fab_gen_family *family = find_family(spec, len);
	struct fab_gen_net net = {.builder = b};

	if (!family)
		return fail_family(spec, len, err);
	net.kind = family->name;
	return build(&net, family, spec + len + (spec[len] == ':'), err);
}

int fab_gen_fabric(const char *spec, struct fab_fabric **out, struct fab_err *err)
{
	struct fab_builder *b = fab_builder_new();
	int rc = fab_gen_fill(b, spec, err);
	char *source;

	if (rc) {
		fab_builder_free(b);
		return rc;
	}
	source = fab_format("gen:%s", spec);
	rc = fab_builder_finish(b, source, "generated", &(struct fab_host_options){0},
				out, err);
	free(source);
	return rc;
}
