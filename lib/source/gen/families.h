/* SPDX-License-Identifier: BSD-2-Clause */
/* The families of generated fabrics: one file each, and one line in gen.c. */
#pragma once

#include "source/gen/net.h"
#include "source/gen/spec.h"

extern const struct fab_gen_family fab_gen_fattree;
extern const struct fab_gen_family fab_gen_pgft;
extern const struct fab_gen_family fab_gen_torus;
extern const struct fab_gen_family fab_gen_mesh;
extern const struct fab_gen_family fab_gen_dragonfly;
extern const struct fab_gen_family fab_gen_kfat;
extern const struct fab_gen_family fab_gen_hyperx;
extern const struct fab_gen_family fab_gen_random;
extern const struct fab_gen_family fab_gen_bluelight;
extern const struct fab_gen_family fab_gen_taihulight;
