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

/* Length without the blanks at the end. */
static size_t trimmed_len(const char *s)
{
	size_t n = strlen(s);

	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	return n;
}

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
	size_t len = trimmed_len(description);
	const char *end = description + len, *name = skip_chassis(description);
	const char *colon = name ? memrchr(name, ':', (size_t)(end - name)) : NULL;
	const char *slash = colon ? memchr(colon, '/', (size_t)(end - colon)) : NULL;

	if (!slash || colon == name)
		snprintf(out, size, "%.*s", (int)len, description);
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
	uint32_t adapter = f->host_adapter[f->host_first_adapter[host]];

	snprintf(guid, sizeof(guid), "0x%016llx",
		 (unsigned long long)f->node_guid[adapter]);
	return !strcmp(guid, fab_host_name(f, host));
}

static bool is_only_one(const struct fab_fabric *f, fab_node_id node)
{
	const char *name = fab_node_name(f, node);

	for (fab_node_id other = 0; other < f->n_nodes; other++)
		if (other != node && strcmp(fab_node_name(f, other), name) == 0)
			return false;
	return true;
}

char *fab_node_text(const struct fab_fabric *f, fab_node_id node)
{
	if (is_only_one(f, node) || !f->node_guid[node])
		return fab_strdup(fab_node_name(f, node));
	return fab_format("%s (0x%016" PRIx64 ")", fab_node_name(f, node),
			  f->node_guid[node]);
}

char *fab_cable_text(const struct fab_fabric *f, fab_port_id port)
{
	fab_port_id peer = port == FAB_NONE ? FAB_NONE : fab_port_peer(f, port);
	char *from, *to, *text;

	if (peer == FAB_NONE)
		return NULL;
	from = fab_node_text(f, f->port_node[port]);
	to = fab_node_text(f, f->port_node[peer]);
	text = fab_format("%s:%u -> %s:%u", from, f->port_num[port], to,
			  f->port_num[peer]);
	free(from);
	free(to);
	return text;
}

enum { MAX_NAME = 64 };

static bool is_allowed(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

/* Runs of other characters become one `-`, none at the ends. NULL when nothing is left or
 * it is too long, or a word of Slurm's. */
static char *clean(const char *name)
{
	char *out = fab_alloc(strlen(name) + 1, 1);
	size_t n = 0;

	for (; *name; name++) {
		if (is_allowed(*name) && (n || (*name != '-' && *name != '.')))
			out[n++] = *name;
		else if (n && out[n - 1] != '-')
			out[n++] = '-';
	}
	while (n && out[n - 1] == '-')
		n--;
	out[n] = '\0';
	if (n && n <= MAX_NAME &&
	    !(!strcasecmp(out, "all") || !strcasecmp(out, "default") ||
	      !strcasecmp(out, "none")))
		return out;
	free(out);
	return NULL;
}

/*
 * Keep the wanted names that are unique; the others get `letter`-<GUID>, if need be with
 * a number behind it. Returns how many others there are.
 */
static uint32_t settle(char **wish, uint32_t n, char letter, const uint64_t *guid)
{
	struct fab_strmap *map;
	uint32_t n_others = 0;
	struct fab_strmap *counts = fab_strmap_new(n);

	/* Count each wanted short name; one that is wanted twice is not used. */
	for (uint32_t j = 0; j < n; j++) {
		size_t len = wish[j] ? strlen(wish[j]) : 0;
		uint32_t before = len ? fab_strmap_get(counts, wish[j], len) : FAB_NONE;

		if (len)
			fab_strmap_set(counts, wish[j], len,
				       before == FAB_NONE ? 1 : before + 1);
	}
	map = counts;
	for (uint32_t i = 0; i < n; i++) {
		char *name;

		if (wish[i] && fab_strmap_get(map, wish[i], strlen(wish[i])) == 1)
			continue;
		free(wish[i]);
		name = fab_format("%c-%016llx", letter, (unsigned long long)guid[i]);
		for (uint32_t k = 2;
		     !(fab_strmap_get(map, name, strlen(name)) == FAB_NONE); k++) {
			free(name);
			name = fab_format("%c-%016llx.%u", letter,
					  (unsigned long long)guid[i], k);
		}
		fab_strmap_set(map, name, strlen(name), 1);
		wish[i] = name;
		n_others++;
	}
	fab_strmap_free(map);
	return n_others;
}

void fab_plain_names_init(struct fab_plain_names *names, const struct fab_fabric *f)
{
	uint64_t *guid = FAB_NEW(f->n_hosts, uint64_t);
	char label[FAB_LABEL_SIZE];

	names->of_switch = FAB_NEW(f->n_switches, char *);
	names->of_host = FAB_NEW(f->n_hosts, char *);
	for (uint32_t s = 0; s < f->n_switches; s++)
		names->of_switch[s] =
			clean(fab_label_short(fab_node_name(f, s), label, sizeof(label)));
	settle(names->of_switch, f->n_switches, 'S', f->node_guid);
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		guid[h] = f->node_guid[f->host_adapter[f->host_first_adapter[h]]];
		names->of_host[h] =
			fab_host_is_unnamed(f, h) ? NULL : clean(fab_host_name(f, h));
	}
	names->n_unnamed = settle(names->of_host, f->n_hosts, 'H', guid);
	free(guid);
}

void fab_plain_names_fini(struct fab_plain_names *names, const struct fab_fabric *f)
{
	for (uint32_t s = 0; s < f->n_switches; s++)
		free(names->of_switch[s]);
	for (uint32_t h = 0; h < f->n_hosts; h++)
		free(names->of_host[h]);
	free(names->of_switch);
	free(names->of_host);
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
