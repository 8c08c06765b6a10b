/** Resources of one organization on the same target. Each of them reads and writes it. */
export const MAX_RESOURCES_PER_TARGET = 20;

/** Resource ids in one request, and as many names. */
export const MAX_RESOURCE_IDS = 100;

/** Characters of a resource's name. */
export const MAX_RESOURCE_NAME = 200;
