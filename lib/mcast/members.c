/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/members.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

/* Where a node sends and receives: its first port with a cable; a switch's port 0. */
static uint32_t endpoint_of(const struct fab_fabric *f, uint32_t node)
{
	if (fab_node_is_switch(f, node))
		return fab_port_find(f, node, 0);
	return fab_node_first_connected_port(f, node);
}

static void add_name(struct fab_members *d, const char *name, uint32_t endpoint)
{
	size_t len = strlen(name);

	while (len && name[len - 1] == ' ')
		len--; /* vendors leave blanks at the end */
	if (fab_strmap_put(d->name, name, len, endpoint) != endpoint)
		fab_strmap_set(d->name, name, len, FAB_MEMBER_AMBIGUOUS);
}

/* A number that two nodes have names neither. */
static void add_number(struct fab_map64 *map, const struct fab_fabric *f, uint64_t number,
		       uint32_t port)
{
	uint32_t old = fab_map64_put(map, number, port);

	if (old != FAB_MEMBER_AMBIGUOUS && f->port_node[old] != f->port_node[port])
		fab_map64_set(map, number, FAB_MEMBER_AMBIGUOUS);
}

uint32_t fab_host_endpoint(const struct fab_fabric *f, uint32_t host)
{
	uint32_t best = FAB_NONE;
	bool best_on_switch = false;

	for (uint32_t i = f->host_first_adapter[host];
	     i < f->host_first_adapter[host + 1]; i++) {
		uint32_t adapter = f->host_adapter[i];
		uint32_t port = fab_node_first_connected_port(f, adapter);
		bool on_switch;

		if (port == FAB_NONE)
			continue;
		on_switch = fab_port_switch(f, port) != FAB_NONE;
		if (best != FAB_NONE &&
		    (on_switch < best_on_switch ||
		     (on_switch == best_on_switch &&
		      fab_text_natural_cmp(fab_node_name(f, adapter),
					   fab_node_name(f, f->port_node[best])) >= 0)))
			continue;
		best = port;
		best_on_switch = on_switch;
	}
	return best;
}

/* A host's name stands for its endpoint unless a node has that name. */
static void add_hosts(const struct fab_fabric *f, struct fab_members *d)
{
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		const char *name = fab_host_name(f, h);
		uint32_t endpoint = fab_host_endpoint(f, h);

		if (endpoint != FAB_NONE)
			fab_strmap_put(d->name, name, strlen(name), endpoint);
	}
}

void fab_members_init(struct fab_members *d, const struct fab_fabric *f)
{
	d->name = fab_strmap_new(2 * (size_t)f->n_nodes);
	d->guid = fab_map64_new(2 * (size_t)f->n_nodes);
	d->lid = fab_map64_new(f->n_nodes);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		if (f->port_cable[p] == FAB_NONE && f->port_num[p])
			continue;
		if (f->port_guid[p])
			add_number(d->guid, f, f->port_guid[p], p);
		if (f->port_lid[p])
			add_number(d->lid, f, f->port_lid[p], p);
	}
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t endpoint = endpoint_of(f, i);

		if (endpoint == FAB_NONE)
			continue;
		if (f->node_guid[i])
			fab_map64_put(d->guid, f->node_guid[i], endpoint);
		add_name(d, fab_node_name(f, i), endpoint);
	}
	add_hosts(f, d);
}

void fab_members_fini(struct fab_members *d)
{
	fab_strmap_free(d->name);
	fab_map64_free(d->guid);
	fab_map64_free(d->lid);
}

/* A quoted token ends at a quote before a blank, a colon, a comment or the end. */
static const char *closing_quote(const char *at, const char *end)
{
	for (; at < end; at++)
		if (*at == '"' && (at + 1 == end || fab_token_is_blank(at[1]) ||
				   at[1] == ':' || at[1] == '#'))
			return at;
	return NULL;
}

int fab_token_next(const struct fab_line_place *place, const char **at, const char *end,
		   bool stops_at_colon, struct fab_token *t)
{
	const char *start;

	while (*at < end && fab_token_is_blank(**at))
		++*at;
	*t = (struct fab_token){.text = *at};
	if (*at == end || **at == '#')
		return 0;
	if (**at == '"') {
		const char *close = closing_quote(*at + 1, end);

		if (!close)
			return fab_fail(
				place->err, EINVAL,
				"%s:%llu: a name begins with a quote, expected one at "
				"its end",
				place->file, (unsigned long long)place->line);
		t->text = *at + 1;
		t->len = (size_t)(close - t->text);
		t->is_quoted = true;
		*at = close + 1;
		return 0;
	}
	for (start = *at; *at < end && !fab_token_is_blank(**at); ++*at)
		if (stops_at_colon && **at == ':' &&
		    (*at + 1 == end || fab_token_is_blank((*at)[1])))
			break;
	t->len = (size_t)(*at - start);
	return 0;
}

uint32_t fab_members_find(const struct fab_members *d, const struct fab_token *t)
{
	size_t len = t->len;
	uint64_t value;

	if (!t->is_quoted) {
		if (len > 4 && !memcmp(t->text, "lid:", 4))
			return fab_parse_u64(t->text + 4, len - 4, 1, UINT16_MAX - 1,
					     &value)
				       ? fab_map64_get(d->lid, value)
				       : FAB_NONE;
		if (len > 2 && !memcmp(t->text, "0x", 2) &&
		    fab_parse_guid(t->text, len, &value))
			return fab_map64_get(d->guid, value);
	}
	while (len && t->text[len - 1] == ' ')
		len--;
	return fab_strmap_get(d->name, t->text, len);
}
