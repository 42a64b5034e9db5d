/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/hosts.h"

#include "base/mem.h"
#include "base/text.h"

bool fab_hosts_hca_matches(const char *description, const char *hca)
{
	return fab_text_glob(hca, description);
}

void fab_hosts_group(struct fab_fabric *f, const struct fab_host_options *options)
{
	uint32_t n = 0;

	(void)options;
	f->node_host = FAB_NEW(f->n_nodes, uint32_t);
	f->host_name = FAB_NEW(f->n_nodes, uint32_t);
	f->host_first_adapter = FAB_NEW((size_t)f->n_nodes + 1, uint32_t);
	f->host_adapter = FAB_NEW(f->n_nodes, uint32_t);
	f->host_rule = "one host an adapter";
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		f->node_host[i] = FAB_NONE;
		if (f->node_kind[i] != FAB_ADAPTER)
			continue;
		f->node_host[i] = n;
		f->host_name[n] = f->node_name[i];
		f->host_first_adapter[n] = n;
		f->host_adapter[n++] = i;
	}
	f->host_first_adapter[n] = n;
	f->n_hosts = n;
}
