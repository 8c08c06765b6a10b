/** Resources of one organization that may name the same target: each of them reads and writes it. */
export const MAX_RESOURCES_PER_TARGET = 20;

/** Ids of resources that one request may name. */
export const MAX_RESOURCE_IDS = 100;
