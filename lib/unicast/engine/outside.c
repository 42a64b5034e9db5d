/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engines of the OpenSM that is installed: a row for each, whose tables it makes itself.
 * The problem says how it is run; peer/opensm.h does that.
 */
#include "unicast/engine.h"

#include <errno.h>

static int fits(const struct fab_unicast_problem *problem, struct fab_err *err)
{
	if (!problem->opensm)
		return fab_fail(err, EINVAL,
				"opensm:ENGINE is not for this: nothing runs OpenSM");
	return 0;
}

static int route(const struct fab_unicast_problem *problem, const char *engine,
		 struct fab_routes **out, struct fab_err *err)
{
	int rc = fits(problem, err);

	return rc ? rc
		  : problem->opensm->route(problem->opensm, problem, engine, out, err);
}

/* A row, and the function that knows its name. */
#define ENGINE(id, engine, what)                                                         \
	static int route_##id(const struct fab_unicast_problem *problem,                 \
			      struct fab_routes **out, struct fab_err *err)              \
	{                                                                                \
		return route(problem, engine, out, err);                                 \
	}                                                                                \
	const struct fab_unicast_engine fab_unicast_opensm_##id = {                      \
		.name = "opensm:" engine,                                                \
		.summary = what ", as the installed OpenSM routes it",                   \
		.manual = what ", as the OpenSM that is installed routes it itself.",    \
		.is_outside = true,                                                      \
		.fits = fits,                                                            \
		.route = route_##id,                                                     \
	}

ENGINE(minhop, "minhop", "Fewest hops, balanced by LID");
ENGINE(updn, "updn", "Up, then down, from roots");
ENGINE(dnup, "dnup",
       "As updn, also where adapters are nearer to the roots than some switches");
ENGINE(ftree, "ftree", "Fat trees, balanced for shifts");
ENGINE(lash, "lash",
       "Fewest hops, the pairs of switches spread over lanes without loops");
ENGINE(dor, "dor", "Dimension by dimension: meshes and hypercubes");
ENGINE(torus_2qos, "torus-2QoS", "Tori, with its `torus_config` in `--opensm-conf`");
ENGINE(sssp, "sssp", "Fewest hops, balanced by weights");
ENGINE(dfsssp, "dfsssp",
       "Fewest hops, balanced by weights, the paths on lanes without loops");
ENGINE(nue, "nue",
       "Any fabric without loops in the lanes that there are (`nue_max_num_vls`)");
