/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabkit-path-sl: an event plug-in for OpenSM that writes the service level of every path
 * when the subnet is up: what the SA would answer for the default partition. The SA's own
 * answer for all pairs is too long for the simulator's clients, which take one packet.
 *
 * event_plugin_options is the file, which appears when it is whole. A line for each port
 * that sends: `0xNODEGUID 1: SL SL - ...`, of LID 1 and those that follow; `-` no port.
 */
#include <stdbool.h>
#include <stdio.h>

#include <opensm/osm_config.h>

#include <opensm/osm_opensm.h>
#include <opensm/osm_partition.h>
#include <opensm/osm_port.h>
#include <opensm/osm_version.h>

#include "base/macros.h"

static struct {
	osm_opensm_t *osm;
	bool is_done; /* or could not be */
} plugin;

enum { NO_SL = 16 };

/* Service level that the SA uses before it asks the routing engine. */
static uint8_t level_of_partition(osm_subn_t *subn)
{
	cl_map_item_t *item = cl_qmap_get(&subn->prtn_pkey_tbl, IB_DEFAULT_PARTIAL_PKEY);

	return item == cl_qmap_end(&subn->prtn_pkey_tbl) ? OSM_DEFAULT_SL
							 : ((osm_prtn_t *)item)->sl;
}

static void write_levels(FILE *out)
{
	osm_subn_t *subn = &plugin.osm->subn;
	const struct osm_routing_engine *engine = plugin.osm->routing_engine_used;
	size_t n_lids = cl_ptr_vector_get_size(&subn->port_lid_tbl);
	uint8_t hint = level_of_partition(subn);

	for (cl_map_item_t *item = cl_qmap_head(&subn->port_guid_tbl);
	     item != cl_qmap_end(&subn->port_guid_tbl); item = cl_qmap_next(item)) {
		const osm_port_t *from = (const osm_port_t *)item;
		ib_net16_t slid = osm_port_get_base_lid(from);

		if (!slid)
			continue;
		fprintf(out, "0x%016llx 1:",
			(unsigned long long)cl_ntoh64(
				osm_node_get_node_guid(from->p_node)));
		for (size_t lid = 1; lid < n_lids; lid++) {
			uint8_t sl = hint;

			if (!cl_ptr_vector_get(&subn->port_lid_tbl, lid)) {
				fputs(" -", out);
				continue;
			}
			if (engine && engine->path_sl)
				sl = engine->path_sl(engine->context, hint, slid,
						     cl_hton16((uint16_t)lid));
			if (sl < NO_SL)
				fprintf(out, " %u", sl);
			else
				fputs(" -", out);
		}
		putc('\n', out);
	}
}

static void report(void *data, osm_epi_event_id_t event, void *event_data)
{
	const char *path = plugin.osm->subn.opt.event_plugin_options;
	char temporary[4096];
	FILE *out;
	int n, failed;

	(void)data;
	(void)event_data;
	if (event != OSM_EVENT_ID_SUBNET_UP || plugin.is_done || !path)
		return;
	plugin.is_done = true;
	n = snprintf(temporary, sizeof(temporary), "%s.new", path);
	out = n > 0 && (size_t)n < sizeof(temporary) ? fopen(temporary, "we") : NULL;
	if (out) {
		write_levels(out);
		failed = ferror(out);
		failed |= fclose(out);
		if (!failed && rename(temporary, path) == 0)
			return;
	}
	osm_log(&plugin.osm->log, OSM_LOG_ERROR,
		"fabkit-path-sl: cannot write the service levels to %s\n", path);
}

static void *create(struct osm_opensm *osm)
{
	plugin.osm = osm;
	osm_log(&osm->log, OSM_LOG_INFO, "fabkit-path-sl: loaded\n");
	return &plugin;
}

static void destroy(void *data)
{
	(void)data;
}

FAB_EXPORT osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = destroy,
	.report = report,
};
