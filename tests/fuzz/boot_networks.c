/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks of a site, and addresses out of them. */
#include "boot/subnets.h"
#include "boots.h"

/* A host of a network has an address of it, which is no gateway. */
static void check_host(const struct fab_subnets *s,
		       const struct fab_host_addresses *addresses, const char *name,
		       const uint32_t *of, uint32_t id, bool is_ip6)
{
	const struct fab_host_address *a = fab_host_addresses_find(addresses, name);
	const char *ip = !a ? "" : is_ip6 ? a->ip6 : a->ip;

	if (!of || of[id] == FAB_NONE)
		NEVER(*ip);
	else
		NEVER(fab_is_host_name(name) &&
		      (fab_subnets_find(s, ip) != &s->of.v[of[id]] ||
		       !strcmp(ip, s->of.v[of[id]].gateway)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fab_machine *m = fuzz_small_machine();
	FAB_AUTO(fab_subnets_fini) struct fab_subnets s = {0};
	struct fab_host_addresses *given, *plan;
	char name[256];

	if (is_refused_at(fab_subnets_read(m, "input", (const char *)bytes, n, &s, ERR)))
		return 0;
	/* no address is in two networks */
	for (const struct fab_subnet *net = s.of.v; net < s.of.v + s.of.n; net++)
		NEVER(fab_subnets_find(&s, net->net.first) != net ||
		      (*net->gateway && fab_subnets_find(&s, net->gateway) != net));
	given = fab_host_addresses_new();
	plan = fab_host_addresses_new();
	if (!is_refused(fab_address_plan_assign(m, &s, given, plan, ERR)))
		for (int k = 0; k < 2; k++) {
			for (uint32_t i = 0; i < m->n_nodes; i++)
				check_host(&s, given, fab_machine_node_name(m, i, name),
					   s.of_node[k], i, k);
			for (uint32_t i = 0; i < m->n_interfaces; i++)
				check_host(&s, given,
					   fab_machine_interface_host_name(m, i, name),
					   s.of_interface[k], i, k);
		}
	fab_host_addresses_free(given);
	fab_host_addresses_free(plan);
	return 0;
}
