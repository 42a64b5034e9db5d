/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables for leaf switches, made to lead to every switch. */
#pragma once

#include "unicast/routes.h"

/*
 * What is exported of an engine's tables by leaf switch (column_lid NULL): they, and a
 * column more for each live switch without one (a root switch), made from the column of a
 * neighbour: towards it, and over its cable; where that column leads nowhere, along the
 * shortest path to a switch that has an entry. Service level 0 towards them. Columns keep
 * their numbers; leaf names those that were there. The caller frees. O(columns * switches
 * + new columns * (switches + cables)).
 */
struct fab_routes *fab_routes_complete(const struct fab_routes *routes)
	__attribute__((returns_nonnull));
