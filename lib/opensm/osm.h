/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's headers. What OpenSM was configured with comes first: the layout of its
 * structs depends on it, and its own headers do not include it in time.
 */
#pragma once

#include <opensm/osm_config.h>

#include <opensm/osm_opensm.h>
