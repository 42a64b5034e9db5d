/* SPDX-License-Identifier: BSD-2-Clause */
/* Plain lists: CSV, JSON lines, hosts(5), ethers(5), inventories of Ansible. */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "export/boot_impl.h"
#include "present/jsonl.h"

/* The nodes of the part: all of them in the order of the batch, else server by server. */
static void each_node(const struct boot_part *part,
		      void (*write)(FILE *out, const struct boot_node *node,
				    const struct boot_server *server))
{
	const struct boot_plan *plan = part->plan;

	if (part->first == 0 && part->end == plan->n_servers) {
		for (uint32_t i = 0; i < plan->n_nodes; i++)
			write(part->out, &plan->node[i],
			      &plan->server[plan->node[i].server]);
		return;
	}
	for (uint32_t s = part->first; s < part->end; s++)
		for (uint32_t i = 0; i < plan->server[s].n; i++)
			write(part->out, boot_node_of(plan, &plan->server[s], i),
			      &plan->server[s]);
}

static void csv_text(FILE *out, const char *name)
{
	char safe[4 * 256 + 8];
	const char *text = fab_text_safe(name, safe, sizeof(safe));

	fab_text_put_csv(out, text, text[0] == ' ');
}

static void csv_node(FILE *out, const struct boot_node *n, const struct boot_server *s)
{
	csv_text(out, n->name);
	putc(',', out);
	csv_text(out, s->name);
	fprintf(out, ",%s,%s,%s,%s\n", n->ip.mac, n->ip.ip, n->ip.ip6,
		n->has_id ? n->id.client_id : "");
}

void boot_write_csv(const struct boot_part *part)
{
	fputs("node,server,mac,ip,ip6,client_id\n", part->out);
	each_node(part, csv_node);
}

static void put(json_t *row, const char *key, const char *text)
{
	if (json_object_set_new(row, key, fab_json_text(*text ? text : NULL)))
		fab_oom(sizeof(void *));
}

static void json_node(FILE *out, const struct boot_node *n, const struct boot_server *s)
{
	json_t *row = json_object();
	struct fab_err err;

	if (!row)
		fab_oom(sizeof(void *));
	put(row, "node", n->name);
	put(row, "server", s->name);
	put(row, "mac", n->ip.mac);
	put(row, "ip", n->ip.ip);
	put(row, "ip6", n->ip.ip6);
	put(row, "client_id", n->has_id ? n->id.client_id : "");
	/* a failed write shows again when the file is closed */
	(void)!fab_jsonl_write(out, row, &err);
}

void boot_write_json(const struct boot_part *part)
{
	each_node(part, json_node);
}

static void put_host(FILE *out, const struct fab_host_address *ip, const char *name)
{
	if (*ip->ip)
		fprintf(out, "%s %s\n", ip->ip, name);
	if (*ip->ip6)
		fprintf(out, "%s %s\n", ip->ip6, name);
}

static void hosts_node(FILE *out, const struct boot_node *n, const struct boot_server *s)
{
	(void)s;
	put_host(out, &n->ip, n->name);
}

void boot_write_hosts(const struct boot_part *part)
{
	if (part->has_shared)
		for (uint32_t s = 0; s < part->plan->n_servers; s++)
			put_host(part->out, &part->plan->server[s].ip,
				 part->plan->server[s].name);
	each_node(part, hosts_node);
}

static void ethers_node(FILE *out, const struct boot_node *n, const struct boot_server *s)
{
	(void)s;
	fprintf(out, "%s %s\n", n->id.mac, n->name);
}

void boot_write_ethers(const struct boot_part *part)
{
	each_node(part, ethers_node);
}

/* Names of groups are letters, digits and underscores, and differ. */
static char **group_names(const struct boot_plan *plan)
{
	struct fab_strmap *taken = fab_strmap_new(plan->n_servers);
	char **names = FAB_NEW((size_t)plan->n_servers + 1, char *);

	for (uint32_t s = 0; s < plan->n_servers; s++) {
		char *name = fab_format("boot_%s", plan->server[s].name);
		uint32_t again = 1;

		for (char *at = name; *at; at++)
			if (!isalnum((unsigned char)*at))
				*at = '_';
		names[s] = name;
		while (fab_strmap_put(taken, names[s], strlen(names[s]), s) != s) {
			if (names[s] != name)
				free(names[s]);
			names[s] = fab_format("%s__%u", name, ++again);
		}
		if (names[s] != name)
			free(name);
	}
	fab_strmap_free(taken);
	return names;
}

static void put_variable(FILE *out, const char *key, const struct fab_host_address *ip)
{
	if (*ip->ip || *ip->ip6)
		fprintf(out, "%s%s", key, *ip->ip ? ip->ip : ip->ip6);
}

static void write_group(const struct boot_part *part, uint32_t s, const char *group)
{
	const struct boot_server *server = &part->plan->server[s];

	fprintf(part->out, "\n[%s]\n", group);
	for (uint32_t i = 0; i < server->n; i++) {
		const struct boot_node *n = boot_node_of(part->plan, server, i);

		fputs(n->name, part->out);
		put_variable(part->out, " ansible_host=", &n->ip);
		putc('\n', part->out);
	}
	fprintf(part->out, "\n[%s:vars]\nboot_server=%s\n", group, server->name);
	put_variable(part->out, "boot_server_address=", &server->ip);
	fputs(*server->ip.ip || *server->ip.ip6 ? "\n" : "", part->out);
	fprintf(part->out, "\n[boot_nodes:children]\n%s\n", group);
}

void boot_write_ansible(const struct boot_part *part)
{
	char **group = group_names(part->plan);

	fputs("# Ansible: nodes by the server that they boot from\n", part->out);
	if (part->has_shared) {
		fputs("\n[boot_servers]\n", part->out);
		for (uint32_t s = 0; s < part->plan->n_servers; s++) {
			const struct boot_server *server = &part->plan->server[s];

			fputs(server->name, part->out);
			put_variable(part->out, " ansible_host=", &server->ip);
			putc('\n', part->out);
		}
	}
	for (uint32_t s = part->first; s < part->end; s++)
		write_group(part, s, group[s]);
	for (uint32_t s = 0; s < part->plan->n_servers; s++)
		free(group[s]);
	free(group);
}
