/* SPDX-License-Identifier: Apache-2.0
 *
 * perturb.cuh: GSAN_OPTIONS=perturb=SEED: warps are held up for a while behind
 * barriers and waits and before arrivals and asynchronous operations, so that what
 * a missing synchronisation leaves open shows in the program's results.  How long
 * hangs on the seed, the block, the warp and how often the warp was here; so the
 * same seed holds up the same places.
 */

/* Half of the times not at all, else up to some 120 microseconds. */
SLOW void hold_up(struct gsan_warp *w)
{
	u32 n = load(&w->turns_held), h = root()->perturb ^ (u32)w->cta * 0x9e3779b9u ^ (w->id & 31) << 27;
	store(&w->turns_held, n + 1);
	h = (h ^ n) * 0x85ebca6bu;
	h = (h ^ h >> 13) * 0xc2b2ae35u;
	h ^= h >> 16;
	if (h & 1)
		return;
	/* Several short ones: each lets others go first on the emulated device. */
	ROLLED
	for (u32 k = h >> 1 & 15; k; k--)
		__nanosleep(64u << (h >> 5 & 7));
}

FN void perturb(struct gsan_warp *w)
{
	if (load_ca32(&w->special) & GSAN_SPECIAL_HELD_UP)
		hold_up(w);
}
