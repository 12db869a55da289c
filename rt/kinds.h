/* SPDX-License-Identifier: Apache-2.0
 *
 * kinds.h: the kinds of finding and what would have been needed (kinds.def), as numbers.
 */
#ifndef RT_KINDS_H
#define RT_KINDS_H

enum gsan_kind {
#define KIND(id, name) GSAN_##id,
#include "rt/kinds.def"
	GSAN_KIND_COUNT
};

/* What would have been needed; the host runtime words it. */
enum gsan_why {
#define WHY(id, text) GSAN_WHY_##id,
#include "rt/kinds.def"
	GSAN_WHY_COUNT
};

enum gsan_level {               /* scope of a strong access */
	GSAN_WEAK, GSAN_CTA, GSAN_CLUSTER, GSAN_GPU, GSAN_SYS
};

/* Of two weak writes. */
enum gsan_values { GSAN_VALUES_UNKNOWN, GSAN_VALUES_SAME, GSAN_VALUES_DIFFER };

#endif
