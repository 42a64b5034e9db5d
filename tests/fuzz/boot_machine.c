/* SPDX-License-Identifier: BSD-2-Clause */
/* Machines: the first byte says whether a file or levels of the command line follow. */
#include "boot/machine.h"
#include "fuzz.h"

#include <math.h>

/* How large a machine may be is the user's to say; here it has to be made soon. Numbers
 * in hexadecimal are left out. */
static bool is_modest(const uint8_t *bytes, size_t n)
{
	double product = 1;

	if (memchr(bytes, 'x', n) || memchr(bytes, 'X', n))
		return false;
	for (size_t i = 0; i < n; i++) {
		double number = 0;

		for (; i < n && bytes[i] >= '0' && bytes[i] <= '9'; i++)
			number = 10 * number + (bytes[i] - '0');
		product *= number > 1 ? number : 1;
	}
	return product < 1e6;
}

static void check(const struct fab_machine *m)
{
	char name[256];

	NEVER(!m->n_nodes || !m->n_servers || m->n_interfaces < m->n_servers ||
	      m->parent[0] != FAB_NONE || m->end_node[0] != m->n_nodes ||
	      m->end_interface[0] != m->n_interfaces);
	for (uint32_t v = 0; v < m->n_vertices; v++) {
		uint32_t p = m->parent[v];

		NEVER(m->level_of[v] >= m->n_levels ||
		      m->first_node[v] > m->end_node[v] || m->end_node[v] > m->n_nodes ||
		      m->first_interface[v] > m->end_interface[v] ||
		      m->end_interface[v] > m->n_interfaces ||
		      !*fab_machine_vertex_name(m, v, name));
		NEVER(v && (p >= v || !(m->capacity_mbps[v] > 0) ||
			    m->first_node[v] < m->first_node[p] ||
			    m->end_node[v] > m->end_node[p] ||
			    m->first_interface[v] < m->first_interface[p] ||
			    m->end_interface[v] > m->end_interface[p]));
	}
	for (uint32_t i = 0; i < m->n_nodes; i++)
		NEVER(m->first_node[m->node_vertex[i]] != i ||
		      m->end_node[m->node_vertex[i]] != i + 1);
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		NEVER(m->first_interface[m->interface_vertex[i]] != i ||
		      m->interface_server[i] >= m->n_servers);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	FAB_AUTO(fab_machine_free_at) struct fab_machine *m = NULL;
	const char *text = (const char *)bytes + 1;
	FAB_AUTOFREE char *spec = NULL;

	if (!n || !is_modest(bytes, n))
		return 0;
	spec = fab_strndup(text, n - 1);
	if (!is_refused(*bytes & 1 ? fab_machine_parse(spec, &m, ERR)
				   : fab_machine_read("input", text, n - 1, &m, ERR)))
		check(m);
	return 0;
}
