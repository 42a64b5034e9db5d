/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of fabric-bootplan: configuration for boot servers, the mapping, the picture. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "boot/addresses.h"
#include "bootplan.h"
#include "export/dot.h"
#include "present/jsonl.h"

enum { SHOWN = 5 };

/* Inputs of the files. */
struct work {
	const struct bootplan_export *e;
	const struct fab_machine *m;
	const struct bootplan_outcome *o;
	struct fab_host_addresses *given, *plan;
};

int bootplan_take_format(void *params, const char *arg, struct fab_err *err)
{
	struct bootplan_export *e = &((struct bootplan_params *)params)->export;
	static const char prefix[] = "template:";
	bool is_own = !strncmp(arg, prefix, strlen(prefix)) && arg[strlen(prefix)];
	size_t n = is_own ? strlen(prefix) - 1 : strlen(arg);
	uint32_t row = fab_choices_find(&fab_boot_format_choices, arg, n);

	if (row == FAB_NONE || (row == FAB_BOOT_TEMPLATE && !is_own))
		return fab_choices_refuse(&fab_boot_format_choices, arg, n, NULL, err);
	e->format = (enum fab_boot_format)row;
	e->template = is_own ? arg + strlen(prefix) : NULL;
	return 0;
}

/* Addresses that are given, those kept from before, and new ones for hosts without any.
 */
static int plan_addresses(struct work *w, struct fab_err *err)
{
	const char *path = w->e->addresses;
	FAB_AUTO(fab_input_fini) struct fab_input hosts = {0};
	FAB_AUTO(fab_input_fini) struct fab_input kept = {0};
	int rc = 0;

	w->given = fab_host_addresses_new();
	if (w->e->hosts) {
		rc = fab_input_read(w->e->hosts, &hosts, err);
		if (!rc)
			rc = fab_host_addresses_read(fab_input_name(w->e->hosts),
						     hosts.bytes, hosts.n, &w->given,
						     err);
	}
	if (!rc && path && fab_input_exists(path)) {
		rc = fab_input_read(path, &kept, err);
		if (!rc)
			rc = fab_address_plan_read(w->m, path, kept.bytes, kept.n,
						   &w->plan, err);
	} else if (!rc) {
		w->plan = fab_host_addresses_new();
		if (w->e->keeps)
			bootplan_keep_addresses(&w->o->previous, w->o, w->given, w->plan);
	}
	if (rc)
		return rc;
	rc = fab_address_plan_assign(w->m, &w->o->subnets, w->given, w->plan, err);
	if (rc && path && !w->e->subnets)
		fab_err_prefix(err, path);
	return rc;
}

/* Where a host has several connected ports, which one it is known by. */
static void tell_ports(const struct fab_cli_run *run, const struct fab_machine *m,
		       const struct fab_batch *batch, struct bootplan_exported *out)
{
	const struct fab_fabric *f = m->fabric;
	uint32_t first = FAB_NONE;

	for (uint32_t i = 0; i < batch->n && f; i++) {
		uint32_t node = batch->node[i], h = m->node_host[node], n = 0;

		if (h == FAB_NONE)
			continue;
		FAB_EACH_HOST_PORT(f, h, p)
			n += f->port_cable[p] != FAB_NONE;
		if (n >= 2 && !out->n_of_several_ports++)
			first = m->node_port[node];
	}
	if (first == FAB_NONE)
		return;
	out->port = fab_format("%s port %u", fab_node_name(f, f->port_node[first]),
			       f->port_num[first]);
	fab_cli_warn(
		run,
		"%u of %u nodes have several connected ports: each boots over its first one on the plane (such as '%s'); --hca=PATTERN names another",
		out->n_of_several_ports, batch->n, out->port);
}

static int write_files(const struct work *w, struct fab_cli_results *results,
		       struct bootplan_exported *out, struct fab_err *err)
{
	const struct bootplan_export *e = w->e;
	struct fab_boot_site site = e->site;
	struct fab_boot_target to = {.open = fab_cli_folder_file,
				     .context = &out->folder};
	struct fab_input in = {0};
	int rc;

	site.addresses = w->given;
	site.subnets = w->o->subnets.of.n ? &w->o->subnets : NULL;
	site.second_of = w->o->second_of;
	site.images = w->o->images;
	site.n_images = w->o->n_images;
	site.image_of = w->o->image_of;
	if (e->template) {
		rc = fab_input_read(e->template, &in, err);
		if (rc)
			return rc;
		site.template_name = fab_input_name(e->template);
		site.template_text = in.bytes;
		site.template_bytes = in.n;
	}
	if (e->folder) {
		rc = fab_cli_open_folder(&out->folder, e->folder, err);
		if (rc)
			return rc;
		if (!e->is_dry) /* else it is removed at the end */
			results->folder = &out->folder;
	} else {
		to.out = fab_cli_open_result(results, e->path);
	}
	return fab_export_boot(&to, e->format, w->m, w->o->largest, w->o->interface_of[0],
			       &site, &out->written, err);
}

int bootplan_check_export(const struct bootplan_params *p, struct bootplan_outcome *o,
			  struct fab_err *err)
{
	char node[FAB_MACHINE_NAME_BYTES], server[FAB_MACHINE_NAME_BYTES] = "";
	const struct bootplan_export *e = &p->export;
	const uint32_t *of = o->interface_of[0], *loaded = o->plan.loaded;
	uint32_t n_unserved = 0, first = FAB_NONE;
	const struct fab_subnet *other;

	for (size_t i = 0; i < e->networks.n; i++) {
		struct fab_ip_network net;
		int rc = fab_ip_network_parse(e->networks.v[i], &net, err);

		if (rc)
			return rc;
		other = fab_subnets_first(&o->subnets, net.is_ip6);
		if (other) {
			fab_fail(
				err, EINVAL,
				"--network: there is one of each family, not '%s' and '%s'; --networks=FILE has several",
				other->net.text, net.text);
			return FAB_EXIT_USAGE;
		}
		fab_subnets_add(&o->subnets, o->m, &net);
	}
	if (e->subnets) {
		FAB_AUTO(fab_input_fini) struct fab_input in = {0};
		int rc = fab_input_read(e->subnets, &in, err);

		if (!rc)
			rc = fab_subnets_read(o->m, fab_input_name(e->subnets), in.bytes,
					      in.n, &o->subnets, err);
		if (rc)
			return rc;
	}
	for (uint32_t i = o->largest->n; i-- > 0;)
		if (of[o->largest->node[i]] == FAB_NONE) {
			n_unserved++;
			first = o->largest->node[i];
		}
	if (!n_unserved && e->has_second) {
		int rc;

		o->second_of = FAB_NEW((size_t)o->m->n_nodes + 1, uint32_t);
		rc = fab_mapping_seconds(o->m, o->largest, of, o->second_of, &o->seconds,
					 err);
		if (rc)
			fab_err_prefix(err, "--set second-server");
		return rc;
	}
	if (!n_unserved)
		return 0;
	if (loaded && loaded[first] != FAB_NONE)
		fab_machine_server_name(o->m, o->m->interface_server[loaded[first]],
					server);
	return fab_fail(
		err, EINVAL,
		"--to: %s leaves %u of %u nodes without a server, such as '%.80s': %s%.80s%s (--algorithm=keep gives them one)",
		p->choices[0].name, n_unserved, o->largest->n,
		fab_machine_node_name(o->m, first, node),
		*server ? "'" : "--loaded names none", server,
		*server ? "' is down" : "");
}

/* The mapping of the one algorithm that --algorithm names, which comes first. */
int bootplan_export(struct fab_cli_results *results, const struct fab_work *w,
		    struct fab_err *err)
{
	const struct bootplan_params *p = w->params;
	struct bootplan_outcome *o = w->outcome;
	struct bootplan_exported *out = &o->exported;
	const struct bootplan_export *e = &p->export;
	struct work work = {.e = e, .m = o->m, .o = o};
	const char *omitted = "";
	int rc;

	if (!e->path && !e->folder)
		return 0;
	rc = plan_addresses(&work, err);
	if (!rc)
		rc = write_files(&work, results, out, err);
	if (rc)
		return rc;
	if (e->folder) {
		bootplan_write_state(&out->folder, o, work.given);
		o->previous.is_known = out->folder.exists;
		bootplan_compare_previous(&o->previous, &out->folder, o, work.given,
					  w->arena);
	}
	if (e->addresses && !e->is_dry)
		fab_address_plan_write(fab_cli_open_result(results, e->addresses), o->m,
				       work.plan);
	out->format =
		e->template ? e->template : fab_boot_format_choices.at(e->format).form;
	out->path = e->folder ? e->folder : e->path;
	out->is_dry = e->is_dry;
	for (size_t i = 0; i < out->written.omitted.n && i < SHOWN; i++)
		omitted = fab_arena_format(w->arena, "%s%s'%s'", omitted, i ? ", " : "",
					   out->written.omitted.v[i]);
	if (*omitted)
		fab_cli_warn(
			&p->run,
			"left out of the boot files because of their names: %s%s; --node-name-map=FILE names such hosts, --set strict refuses them",
			omitted, out->written.omitted.n > SHOWN ? " ..." : "");
	out->is_by_interface = out->written.n_servers > o->m->n_servers;
	if (out->written.n_by_guid)
		tell_ports(&p->run, o->m, o->largest, out);
	fab_host_addresses_free(work.given);
	fab_host_addresses_free(work.plan);
	return 0;
}

void bootplan_exported_fini(struct bootplan_exported *out)
{
	free(out->port);
	fab_cli_folder_fini(&out->folder);
	fab_boot_written_fini(&out->written);
}

/* Bandwidth of the slowest node after the loss of the most important server. */
static void say_seconds(struct fab_report *r, const struct bootplan_outcome *o)
{
	const struct fab_seconds *x = &o->seconds;
	char name[FAB_MACHINE_NAME_BYTES], mbps[32], bound[32];

	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"Second servers: without any one server the slowest node gets %s (without %s, where no mapping gives more than %s), with up to %u nodes on a server (%u if all are even). No mapping gives more for %u of %u losses.",
		fab_human_mbps(x->bandwidth_mbps, mbps),
		fab_machine_server_name(o->m, x->worst_server, name),
		fab_human_mbps(x->bound_mbps, bound), x->most_nodes, x->even_nodes,
		x->n_at_bound, x->n_losses);
}

void bootplan_answer_exported(struct fab_report *r, const struct bootplan_outcome *o)
{
	const struct bootplan_exported *x = &o->exported;

	if (!x->format)
		return;
	fab_report_answer(
		r, FAB_TONE_PLAIN, "%s for %s into %s: %u node%s of %u %s%s%s.",
		x->is_dry ? "Not written (--dry-run)" : "Written", x->format,
		strcmp(x->path, "-") ? x->path : "standard output", x->written.n_nodes,
		x->written.n_nodes == 1 ? "" : "s", x->written.n_servers,
		x->is_by_interface ? "server interface" : "server",
		x->written.n_servers == 1 ? "" : "s",
		x->port ? ", each known by the first connected port of its host" : "");
	if (o->second_of)
		say_seconds(r, o);
	if (x->written.omitted.n)
		fab_report_answer(r, FAB_TONE_BAD,
				  "Left out, without a boot server: %zu node%s; %s.",
				  x->written.omitted.n,
				  x->written.omitted.n == 1 ? "" : "s",
				  x->written.why_omitted.text);
}

void bootplan_report_exported(struct fab_report *r, const struct bootplan_outcome *o)
{
	const struct bootplan_exported *x = &o->exported;
	char name[FAB_MACHINE_NAME_BYTES];

	if (!x->format)
		return;
	fab_report_text(r, "boot_files.format", x->format);
	fab_report_uint(r, "boot_files.files", x->written.n_files);
	fab_report_uint(r, "boot_files.nodes", x->written.n_nodes);
	fab_report_uint(r, "boot_files.servers", x->written.n_servers);
	fab_report_uint(r, "boot_files.by_guid", x->written.n_by_guid);
	fab_report_uint(r, "boot_files.several_ports", x->n_of_several_ports);
	fab_report_text(r, "boot_files.first_port", x->port);
	if (o->second_of) {
		fab_report_text(
			r, "second_servers.worst_loss",
			fab_machine_server_name(o->m, o->seconds.worst_server, name));
		fab_report_real(r, "second_servers.bandwidth_mbps", FAB_COL_MBPS,
				o->seconds.bandwidth_mbps);
		fab_report_real(r, "second_servers.bound_mbps", FAB_COL_MBPS,
				o->seconds.bound_mbps);
		fab_report_uint(r, "second_servers.max_nodes", o->seconds.most_nodes);
		fab_report_uint(r, "second_servers.even_nodes", o->seconds.even_nodes);
		fab_report_uint(r, "second_servers.losses", o->seconds.n_losses);
		fab_report_uint(r, "second_servers.losses_at_bound",
				o->seconds.n_at_bound);
	}
	fab_report_field(
		r, &(struct fab_column){.name = "boot_files.omitted", .type = FAB_NAMES},
		(union fab_cell){.names = &(struct fab_names){
					 (const char *const *)x->written.omitted.v,
					 x->written.omitted.n}});
}

/* ---- --set mapping-out ---- */

/* JSON lines, one node of the batch each. Mappings that leave nodes without a server are
 * left out, and reported. */
int bootplan_write_mapping(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct bootplan_outcome *o = w->outcome;
	char node[FAB_MACHINE_NAME_BYTES], interface[FAB_MACHINE_NAME_BYTES];
	bool is_any = false;
	int rc = 0;

	for (size_t i = 0; i < o->p->n_choices && !rc; i++) {
		const char *algorithm = o->p->choices[i].name;

		if (fab_plan_is_incomplete(o->largest, o->interface_of[i])) {
			fab_cli_warn(
				&o->p->run,
				"--set mapping-out: %s leaves nodes without a server and is not written",
				algorithm);
			continue;
		}
		is_any = true;
		for (uint32_t k = 0; k < o->largest->n && !rc; k++) {
			uint32_t at = o->largest->node[k];
			fab_machine_node_name(o->m, at, node);
			fab_machine_interface_name(o->m, o->interface_of[i][at],
						   interface);
			rc = fab_jsonl_write(out,
					     json_pack("{s:o, s:o, s:o}", "algorithm",
						       fab_json_text(algorithm), "node",
						       fab_json_text(node), "server",
						       fab_json_text(interface)),
					     err);
		}
	}
	return rc || is_any
		       ? rc
		       : fab_fail(
				 err, EINVAL,
				 "--set mapping-out: no mapping has a server for every node");
}

/* ---- pictures ---- */

int bootplan_write_dot(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct bootplan_outcome *o = w->outcome;

	(void)err;
	fab_export_machine_dot(out, o->m, o->largest, o->interface_of[0],
			       o->p->choices[0].name);
	return 0;
}

/* A curve for each mapping and model: results of a batch come in the same order. */
int bootplan_write_plot(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct bootplan_outcome *o = w->outcome;
	const struct fab_plan_result *of = o->results.of.v;
	size_t step = 0, n_points = 0, n = o->results.of.n;
	struct fab_plot_series *series;
	struct fab_picture picture;

	while (step < n && of[step].batch == of[0].batch)
		step++;
	series = FAB_ARENA_NEW0(w->arena, step, struct fab_plot_series);
	for (size_t i = 0; i < step; i++) {
		double *x = FAB_ARENA_NEW(w->arena, o->n_batches, double);
		double *y = FAB_ARENA_NEW(w->arena, o->n_batches, double);
		size_t n_here = 0;

		for (size_t k = i; k < n; k += step)
			if (isfinite(of[k].boot_seconds) && of[k].boot_seconds > 0) {
				x[n_here] = of[k].batch->n;
				y[n_here++] = of[k].boot_seconds;
			}
		series[i] = (struct fab_plot_series){
			fab_arena_format(w->arena, "%s%s", of[i].algorithm,
					 of[i].is_max_min ? ", max-min" : ""),
			x, y, n_here};
		n_points += n_here;
	}
	if (!n_points)
		return fab_fail(err, ENODATA,
				"--plot: nothing to draw: no batch takes time");
	picture = fab_cli_picture(w, &o->p->plot, "Time to boot", o->m->source);
	fab_curves_write(out, &picture,
			 &(struct fab_curves){.x_label = "nodes that boot together",
					      .y_label = "seconds until all have booted",
					      .log_by_range = true,
					      .from_zero = true,
					      .series = series,
					      .n = step},
			 1);
	return 0;
}
