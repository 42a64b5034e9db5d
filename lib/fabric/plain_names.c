/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/plain_names.h"

#include "base/map.h"
#include "base/mem.h"
#include "fabric/label.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_NAME = 64 };

static bool is_allowed(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

/* Words that mean more than a name in topology.conf. */
static bool is_reserved(const char *name)
{
	return !strcasecmp(name, "all") || !strcasecmp(name, "default") ||
	       !strcasecmp(name, "none");
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
	if (n && n <= MAX_NAME && !is_reserved(out))
		return out;
	free(out);
	return NULL;
}

/* How often each wish is made: wishes made twice are granted to nobody. */
static struct fab_strmap *count(char *const *wish, uint32_t n)
{
	struct fab_strmap *map = fab_strmap_new(n);

	for (uint32_t i = 0; i < n; i++) {
		size_t len = wish[i] ? strlen(wish[i]) : 0;
		uint32_t before = len ? fab_strmap_get(map, wish[i], len) : FAB_NONE;

		if (len)
			fab_strmap_set(map, wish[i], len,
				       before == FAB_NONE ? 1 : before + 1);
	}
	return map;
}

static bool is_free(const struct fab_strmap *map, const char *name)
{
	return fab_strmap_get(map, name, strlen(name)) == FAB_NONE;
}

/*
 * Keep the wishes that are unique; the others get `letter`-<GUID>, if need be with a
 * number behind it. Returns how many others there are.
 */
static uint32_t settle(char **wish, uint32_t n, char letter, const uint64_t *guid)
{
	struct fab_strmap *map = count(wish, n);
	uint32_t n_others = 0;

	for (uint32_t i = 0; i < n; i++) {
		char *name;

		if (wish[i] && fab_strmap_get(map, wish[i], strlen(wish[i])) == 1)
			continue;
		free(wish[i]);
		name = fab_format("%c-%016llx", letter, (unsigned long long)guid[i]);
		for (uint32_t k = 2; !is_free(map, name); k++) {
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
