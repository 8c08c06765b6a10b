/** Of the API contract. */
export const RESOURCE_IP_STATUSES = ['PENDING', 'APPLIED', 'FAILED', 'REMOVING', 'REMOVED'] as const;
export type ResourceIpStatus = (typeof RESOURCE_IP_STATUSES)[number];
