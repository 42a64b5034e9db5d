/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/units.h"
#include "source/gen/impl.h"
#include "source/reader.h"
#include "source/source.h"

#define SWITCH_GUID 0x02fab00000000001u
#define ADAPTER_GUID 0x02fab10000000010u

enum { LID_LAST = 49151, VENDOR = 0x02fab0, DEVICE_SWITCH = 1, DEVICE_ADAPTER = 2 };

uint64_t fab_gen_mul(uint64_t a, uint64_t b)
{
	uint64_t c;

	return __builtin_mul_overflow(a, b, &c) ? UINT64_MAX : c;
}

uint64_t fab_gen_add(uint64_t a, uint64_t b)
{
	uint64_t c;

	return __builtin_add_overflow(a, b, &c) ? UINT64_MAX : c;
}

int fab_gen_check_size(const struct fab_gen_net *net, const struct fab_gen_size *size,
		       struct fab_err *err)
{
	static const char more[] = "more than the";
	uint64_t bytes, available = fab_memory_bytes();
	char takes[FAB_HUMAN_BYTES], has[FAB_HUMAN_BYTES];

	/* Bytes of a fabric while it is built, about; measured. */
	enum { NODE_BYTES = 220, CABLE_BYTES = 130 };
	uint64_t nodes = fab_gen_add(size->switches, size->adapters);
	bytes = fab_gen_add(fab_gen_mul(nodes, NODE_BYTES),
			    fab_gen_mul(size->cables, CABLE_BYTES));
	if (size->ports > FAB_GEN_PORTS_MAX)
		return fab_fail(
			err, EINVAL,
			"gen:%s: a switch would have %s %d ports that are allowed",
			net->kind, more, FAB_GEN_PORTS_MAX);
	fab_human_bytes(bytes, takes);
	if (fab_gen_add(size->switches, size->adapters) > FAB_GEN_NODES_MAX)
		return fab_fail(
			err, EINVAL,
			"gen:%s: the fabric would have %s %d switches and adapters that can be numbered (and take %s of memory)",
			net->kind, more, FAB_GEN_NODES_MAX, takes);
	if (size->cables > FAB_GEN_CABLES_MAX)
		return fab_fail(
			err, EINVAL,
			"gen:%s: the fabric would have %s %d cables that can be numbered (and take %s of memory)",
			net->kind, more, FAB_GEN_CABLES_MAX, takes);
	if (bytes > available)
		return fab_fail(
			err, ENOMEM,
			"gen:%s: the fabric would take about %s of memory, there are %s",
			net->kind, takes, fab_human_bytes(available, has));
	return 0;
}

/* LIDs are given in the order of the nodes; said once when they have run out. */
static uint16_t next_lid(struct fab_gen_net *net)
{
	uint32_t lid = net->n_switches + net->n_adapters;

	if (lid == LID_LAST + 1)
		fab_builder_warn(net->builder, "lids-exhausted", 0,
				 "there are only %d unicast LIDs: node %" PRIu32
				 " and all after it have none",
				 LID_LAST, lid);
	return lid <= LID_LAST ? (uint16_t)lid : FAB_LID_NONE;
}

/* A node with a name of n bytes behind the prefix; returns its id. */
static uint32_t add_node(struct fab_gen_net *net, struct fab_node_spec spec, int n)
{
	spec.vendor = VENDOR;
	spec.name = net->name;
	spec.name_len = net->prefix_len + (size_t)n;
	return fab_builder_add_node(net->builder, &spec);
}

uint32_t fab_gen_switch(struct fab_gen_net *net, uint32_t n_ports, const char *format,
			...)
{
	uint64_t guid = SWITCH_GUID + net->n_switches;
	const struct fab_node_spec spec = {.kind = FAB_SWITCH,
					   .guid = guid,
					   .sys_guid = guid,
					   .device = DEVICE_SWITCH,
					   .n_ports = (uint16_t)n_ports,
					   .is_enhanced = true};
	va_list ap;
	uint32_t id;
	int n;

	va_start(ap, format);
	n = vsnprintf(net->name + net->prefix_len, FAB_GEN_NAME_MAX, format, ap);
	va_end(ap);
	id = add_node(net, spec, n);
	net->n_switches++;
	fab_builder_set_port(net->builder, id, 0, guid, next_lid(net), 0);
	return id;
}

void fab_gen_host(struct fab_gen_net *net)
{
	net->host_guid = ADAPTER_GUID + 16 * (uint64_t)net->n_adapters;
	net->rail = 0;
	net->n_hosts++;
}

void fab_gen_adapter(struct fab_gen_net *net, uint32_t sw, uint32_t port)
{
	uint64_t guid = ADAPTER_GUID + 16 * (uint64_t)net->n_adapters;
	const struct fab_node_spec spec = {.kind = FAB_ADAPTER,
					   .guid = guid,
					   .sys_guid = net->host_guid,
					   .device = DEVICE_ADAPTER,
					   .n_ports = 1};
	int n = snprintf(net->name + net->prefix_len, FAB_GEN_NAME_MAX,
			 "h%" PRIu32 " HCA-%" PRIu32, net->n_hosts - 1, ++net->rail);
	uint32_t id = add_node(net, spec, n);

	net->n_adapters++;
	fab_builder_set_port(net->builder, id, 1, guid + 1, next_lid(net), 0);
	fab_builder_add_cable(net->builder, sw, (uint16_t)port, id, 1, net->width,
			      net->speed);
}

void fab_gen_hosts(struct fab_gen_net *net, uint32_t sw, uint32_t n)
{
	for (uint32_t port = 1; port <= n; port++) {
		fab_gen_host(net);
		fab_gen_adapter(net, sw, port);
	}
}

void fab_gen_cable(struct fab_gen_net *net, uint32_t a, uint32_t port_a, uint32_t b,
		   uint32_t port_b)
{
	fab_builder_add_cable(net->builder, a, (uint16_t)port_a, b, (uint16_t)port_b,
			      net->width, net->speed);
}

void fab_gen_coords(uint32_t index, const uint32_t *dims, uint32_t n, uint32_t *v)
{
	for (uint32_t d = n; d-- > 0;) {
		v[d] = index % dims[d];
		index /= dims[d];
	}
}

const char *fab_gen_coords_text(const uint32_t *v, uint32_t n, uint32_t skip,
				char text[FAB_GEN_NAME_MAX])
{
	size_t at = 0;

	for (uint32_t d = 0; d < n && at < FAB_GEN_NAME_MAX; d++) {
		const char *dot = d ? "." : "";

		if (d == skip)
			at += (size_t)snprintf(text + at, FAB_GEN_NAME_MAX - at, "%sx",
					       dot);
		else
			at += (size_t)snprintf(text + at, FAB_GEN_NAME_MAX - at,
					       "%s%" PRIu32, dot, v[d]);
	}
	return text;
}

/* Bytes of a bad word that a message shows. */
#define SHOWN(len) ((int)((len) < 40 ? (len) : 40))

static bool parse_value(const struct fab_gen_key *key, const char *text, size_t len,
			struct fab_gen_value *value)
{
	value->is_given = true;
	switch (key->type) {
		const char *end;

	case FAB_GEN_NUMBER:
		return fab_parse_u64(text, len, key->min, key->max, &value->number);
	case FAB_GEN_LIST:
		end = text + len;
		value->list.n = 0;
		for (;;) {
			const char *stop =
				memchr(text, key->separator, (size_t)(end - text));
			size_t n = (size_t)((stop ? stop : end) - text);
			uint64_t number;

			/* A leading 0 is no hexadecimal mark here: in 0x4 the x
			 * separates. */
			if (value->list.n == FAB_GEN_LIST_MAX ||
			    !fab_parse_u64(text, n, key->min, key->max, &number))
				return false;
			value->list.v[value->list.n++] = (uint32_t)number;
			if (!stop)
				return true;
			text = stop + 1;
		}
	case FAB_GEN_WORD:
		value->word = text;
		value->word_len = len;
		return true;
	case FAB_GEN_CHOICE:
		for (size_t i = 0; key->words[i]; i++) {
			value->number = i;
			if (strlen(key->words[i]) == len &&
			    !memcmp(key->words[i], text, len))
				return true;
		}
		return false;
	}
	return false;
}

/* All `key=value` of the parameters. */
static int parse_params(const char *name, const struct fab_gen_key *keys, size_t n_keys,
			const char *params, struct fab_gen_value *values,
			struct fab_err *err)
{
	for (size_t i = 0; i < n_keys; i++)
		values[i] = (struct fab_gen_value){.number = keys[i].fallback};
	while (*params) {
		size_t len = strcspn(params, ","), i = 0;
		const char *equals = memchr(params, '=', len);
		size_t word = equals ? (size_t)(equals - params) : len;
		const struct fab_gen_key *key = keys;
		char range[128];

		while (i < n_keys &&
		       (strlen(key->name) != word || memcmp(key->name, params, word)))
			key = &keys[++i];
		if (i == n_keys) {
			FAB_AUTOFREE char *known = fab_gen_words(name, strlen(name));

			return fab_fail(
				err, EINVAL,
				"gen:%s: there is no key '%.*s'; the keys are: %s", name,
				SHOWN(word), params, known);
		}
		if (!equals)
			return fab_fail(err, EINVAL,
					"gen:%s: key %s has no value: %s=... (%s)", name,
					key->name, key->name, key->help);
		if (values[i].is_given)
			return fab_fail(err, EINVAL, "gen:%s: key %s is given twice",
					name, key->name);
		if (!parse_value(key, equals + 1, len - word - 1, &values[i])) {
			snprintf(range, sizeof(range), "from %" PRIu64 " to %" PRIu64,
				 key->min, key->max);
			if (key->type == FAB_GEN_CHOICE)
				return fab_fail(err, EINVAL,
						"gen:%s: %s=%.*s: expected %s", name,
						key->name, SHOWN(len - word - 1),
						equals + 1, key->help);
			if (key->type != FAB_GEN_LIST)
				return fab_fail(
					err, EINVAL,
					"gen:%s: %s=%.*s: a number %s is needed (%s)",
					name, key->name, SHOWN(len - word - 1),
					equals + 1, range, key->help);
			return fab_fail(
				err, EINVAL,
				"gen:%s: %s=%.*s: 1 to %d numbers %s separated by '%c' are needed (%s)",
				name, key->name, SHOWN(len - word - 1), equals + 1,
				FAB_GEN_LIST_MAX, range, key->separator, key->help);
		}
		params += len;
		if (*params == ',' && !*++params)
			return fab_fail(err, EINVAL,
					"gen:%s: nothing follows the last comma", name);
	}
	for (size_t i = 0; i < n_keys; i++)
		if (keys[i].is_required && !values[i].is_given)
			return fab_fail(err, EINVAL, "gen:%s: key %s is missing (%s)",
					name, keys[i].name, keys[i].help);
	return 0;
}

/* A new family: its file, its declaration in gen/impl.h and a line here. */
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

static int take_common(struct fab_gen_net *net, const struct fab_gen_value *values,
		       struct fab_err *err)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	const struct fab_gen_value *prefix = &values[PREFIX];
	const struct fab_gen_value *value;

	net->width = (uint8_t)values[WIDTH].number;
	if (!strchr("\1\2\4\10\14", net->width))
		return fab_fail(err, EINVAL,
				"gen:%s: width=%d: 1, 2, 4, 8 or 12 is needed", net->kind,
				net->width);
	if (prefix->is_given) {
		if (prefix->word_len > FAB_GEN_PREFIX_MAX ||
		    strspn(prefix->word, letters) < prefix->word_len)
			return fab_fail(
				err, EINVAL,
				"gen:%s: name-prefix=%.*s: at most %d letters, digits, '-', '_' and '.' are needed",
				net->kind, SHOWN(prefix->word_len), prefix->word,
				FAB_GEN_PREFIX_MAX);
		memcpy(net->name, prefix->word, prefix->word_len);
		net->prefix_len = prefix->word_len;
	}
	value = &values[SPEED];
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
	return fab_fail(
		err, EINVAL,
		"gen:%s: speed=%.*s: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR is needed",
		net->kind, SHOWN(value->word_len), value->word);
}

/* The family of this name; NULL: unknown. */
static const struct fab_gen_family *find_family(const char *name, size_t len)
{
	for (size_t i = 0; i < FAB_COUNT(families); i++)
		if (strlen(families[i]->name) == len &&
		    !memcmp(families[i]->name, name, len))
			return families[i];
	return NULL;
}

char *fab_gen_words(const char *kind, size_t len)
{
	const struct fab_gen_family *family = find_family(kind, len);
	char *words = NULL;

	for (size_t i = 0; !len && i < FAB_COUNT(families); i++)
		fab_append(&words, " ", "%s", families[i]->name);
	for (size_t i = 0; family && i < family->n_keys; i++)
		fab_append(&words, " ", "%s", family->keys[i].name);
	for (size_t i = 0; family && i < N_COMMON; i++)
		fab_append(&words, " ", "%s", common[i].name);
	return words ? words : fab_strdup("");
}

int fab_gen_fill(struct fab_builder *b, const char *spec, struct fab_err *err)
{
	size_t len = strcspn(spec, ":"), n;
	const struct fab_gen_family *family = find_family(spec, len);
	struct fab_gen_net net = {.builder = b};
	struct fab_gen_key keys[FAB_GEN_KEYS_MAX];
	struct fab_gen_value values[FAB_GEN_KEYS_MAX];
	int rc;

	if (!family) {
		FAB_AUTOFREE char *known = fab_gen_words("", 0);

		return fab_fail(err, EINVAL,
				"gen:%.*s: there is no such kind; the kinds are: %s",
				SHOWN(len), spec, known);
	}
	net.family = family;
	net.kind = family->name;
	n = family->n_keys;
	if (n)
		memcpy(keys, family->keys, n * sizeof(*keys));
	memcpy(keys + n, common, sizeof(common));
	rc = parse_params(family->name, keys, n + N_COMMON,
			  spec + len + (spec[len] == ':'), values, err);
	if (!rc)
		rc = take_common(&net, values + n, err);
	return rc ? rc : family->build(&net, values, err);
}
