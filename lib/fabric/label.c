/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/label.h"

#include "base/map.h"
#include "base/mem.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* `MF0;name:model/module`: two capitals, digits, a semicolon. */
static const char *skip_chassis(const char *s)
{
	const char *p = s;

	if (!isupper((unsigned char)p[0]) || !isupper((unsigned char)p[1]))
		return NULL;
	p += 2;
	if (!isdigit((unsigned char)*p))
		return NULL;
	while (isdigit((unsigned char)*p))
		p++;
	return *p == ';' ? p + 1 : NULL;
}

char *fab_label_short(const char *description, char *out, size_t size)
{
	const char *end = description + strlen(description);
	const char *name = skip_chassis(description);
	const char *colon, *slash;

	while (end > description && isspace((unsigned char)end[-1]))
		end--;
	colon = name ? memrchr(name, ':', (size_t)(end - name)) : NULL;
	slash = colon ? memchr(colon, '/', (size_t)(end - colon)) : NULL;

	if (!slash || colon == name)
		snprintf(out, size, "%.*s", (int)(end - description), description);
	else if (end - slash == 3 && !memcmp(slash, "/U1", 3))
		snprintf(out, size, "%.*s", (int)(colon - name), name);
	else
		snprintf(out, size, "%.*s%.*s", (int)(colon - name), name,
			 (int)(end - slash), slash);
	return out;
}

/* End of the description of a chip that begins at `s`; NULL: none begins there. */
static const char *chip_end(const char *s)
{
	const char *name = skip_chassis(s), *p;

	p = name ? name + strcspn(name, ":/ ") : NULL;
	if (!p || p == name || *p != ':')
		return NULL;
	p += 1 + strcspn(p + 1, ":/ ");
	if (*p != '/')
		return NULL;
	while (*p == '/' || isalnum((unsigned char)*p))
		p++;
	return p;
}

char *fab_label_shorten(const char *text)
{
	char *out = fab_alloc(strlen(text) + 1, 1), *to = out;
	bool is_inside = false; /* a word has begun before `text` */

	while (*text) {
		const char *end = is_inside ? NULL : chip_end(text);

		if (end && end - text < FAB_LABEL_SIZE) {
			char description[FAB_LABEL_SIZE], label[FAB_LABEL_SIZE];

			snprintf(description, sizeof(description), "%.*s",
				 (int)(end - text), text);
			to = stpcpy(to,
				    fab_label_short(description, label, sizeof(label)));
			text = end;
			continue;
		}
		is_inside = isalnum((unsigned char)*text);
		*to++ = *text++;
	}
	*to = '\0';
	return out;
}

bool fab_host_is_unnamed(const struct fab_fabric *f, fab_host_id host)
{
	char guid[24];
	const char *name = fab_host_name(f, host);
	uint32_t adapter = f->host_adapter[f->host_first_adapter[host]];

	if (*name != '0')
		return false;
	snprintf(guid, sizeof(guid), "0x%016llx",
		 (unsigned long long)f->node_guid[adapter]);
	return !strcmp(guid, name);
}

char *fab_node_text(const struct fab_fabric *f, fab_node_id node)
{
	const char *name = fab_node_name(f, node);
	fab_node_id other = 0;

	while (other < f->n_nodes &&
	       (other == node || strcmp(fab_node_name(f, other), name) != 0))
		other++;
	if (other == f->n_nodes || !f->node_guid[node])
		return fab_strdup(name);
	return fab_format("%s (0x%016" PRIx64 ")", name, f->node_guid[node]);
}

char *fab_cable_text(const struct fab_fabric *f, fab_port_id port)
{
	fab_port_id peer = port == FAB_NONE ? FAB_NONE : fab_port_peer(f, port);
	char *text;
	FAB_AUTOFREE char *from = NULL, *to = NULL;

	if (peer == FAB_NONE)
		return NULL;
	from = fab_node_text(f, f->port_node[port]);
	to = fab_node_text(f, f->port_node[peer]);
	text = fab_format("%s:%u -> %s:%u", from, f->port_num[port], to,
			  f->port_num[peer]);
	return text;
}

char *fab_ports_key(const struct fab_fabric *f, struct fab_arena *arena, fab_port_id a,
		    fab_port_id b)
{
	unsigned long long guid_a = f->node_guid[f->port_node[a]], guid_b;

	if (b == FAB_NONE)
		return fab_arena_format(arena, "0x%016llx/%u", guid_a, f->port_num[a]);
	guid_b = f->node_guid[f->port_node[b]];
	if (guid_b < guid_a || (guid_b == guid_a && f->port_num[b] < f->port_num[a]))
		return fab_ports_key(f, arena, b, a);
	return fab_arena_format(arena, "0x%016llx/%u 0x%016llx/%u", guid_a,
				f->port_num[a], guid_b, f->port_num[b]);
}

enum { MAX_NAME = 64 };

/* Runs of other characters become one `-`, none at the ends. NULL when nothing is left or
 * it is too long, or a word of Slurm's. */
static char *clean(struct fab_arena *arena, const char *name)
{
	char *out = fab_arena_alloc(arena, strlen(name) + 1, 1);
	size_t n = 0;

	for (; *name; name++) {
		bool is_ascii = isascii((unsigned char)*name);

		if (is_ascii && (isalnum((unsigned char)*name) || *name == '_' ||
				 (n && (*name == '-' || *name == '.'))))
			out[n++] = *name;
		else if (n && out[n - 1] != '-')
			out[n++] = '-';
	}
	while (n && out[n - 1] == '-')
		n--;
	out[n] = '\0';
	return n && n <= MAX_NAME && strcasecmp(out, "all") != 0 &&
			       strcasecmp(out, "default") != 0 &&
			       strcasecmp(out, "none") != 0
		       ? out
		       : NULL;
}

/*
 * Keep the wanted names that are unique; the others get `prefix`-<GUID>, if need be with
 * a number behind it. Returns how many others there are.
 */
static uint32_t settle(struct fab_arena *arena, char **wish, uint32_t n, char prefix,
		       const uint64_t *guid)
{
	FAB_AUTO(fab_strmap_free_at) struct fab_strmap *counts = fab_strmap_new(n);
	uint32_t n_others = 0;

	/* Count each wanted short name; one that is wanted twice is not used. */
	for (uint32_t j = 0; j < n; j++) {
		size_t len = wish[j] ? strlen(wish[j]) : 0;

		if (len && fab_strmap_put(counts, wish[j], len, j) != j)
			fab_strmap_set(counts, wish[j], len, FAB_SHARED);
	}
	for (uint32_t i = 0; i < n; i++) {
		char *name;

		if (wish[i] && fab_strmap_get(counts, wish[i], strlen(wish[i])) == i)
			continue;
		name = fab_arena_format(arena, "%c-%016llx", prefix,
					(unsigned long long)guid[i]);
		for (uint32_t k = 2;
		     fab_strmap_get(counts, name, strlen(name)) != FAB_NONE; k++)
			name = fab_arena_format(arena, "%c-%016llx.%u", prefix,
						(unsigned long long)guid[i], k);
		fab_strmap_set(counts, name, strlen(name), i);
		wish[i] = name;
		n_others++;
	}
	return n_others;
}

void fab_plain_names_init(struct fab_plain_names *names, const struct fab_fabric *f)
{
	struct fab_arena *arena = &names->arena;
	char label[FAB_LABEL_SIZE];
	uint64_t *guid;

	*names = (struct fab_plain_names){.n_unnamed = 0};
	names->of_switch = FAB_ARENA_NEW(arena, f->n_switches, char *);
	names->of_host = FAB_ARENA_NEW(arena, f->n_hosts, char *);
	guid = FAB_ARENA_NEW(arena, f->n_hosts, uint64_t);
	for (uint32_t s = 0; s < f->n_switches; s++)
		names->of_switch[s] = clean(arena, fab_label_short(fab_node_name(f, s),
								   label, sizeof(label)));
	settle(arena, names->of_switch, f->n_switches, 'S', f->node_guid);
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		guid[h] = f->node_guid[f->host_adapter[f->host_first_adapter[h]]];
		names->of_host[h] = fab_host_is_unnamed(f, h)
					    ? NULL
					    : clean(arena, fab_host_name(f, h));
	}
	names->n_unnamed = settle(arena, names->of_host, f->n_hosts, 'H', guid);
}

void fab_plain_names_fini(struct fab_plain_names *names)
{
	fab_arena_free(&names->arena);
}

char *fab_plain_names_invent(const struct fab_plain_names *names,
			     const struct fab_fabric *f, const char *stem, uint32_t *next)
{
	for (;; ++*next) {
		char *name = fab_format("%s%u", stem, *next);
		bool taken = false;

		for (uint32_t s = 0; s < f->n_switches && !taken; s++)
			taken = !strcmp(names->of_switch[s], name);
		if (!taken) {
			++*next;
			return name;
		}
		free(name);
	}
}
