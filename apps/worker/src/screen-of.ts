import type { FeedRecord } from '#tenant-store';

const SCREENS: Readonly<Record<string, (id: string) => string>> = {
  SESSION: (id) => `/sessions/${id}`,
  ACCESS_REQUEST: (id) => `/requests/${id}`,
  RESOURCE: (id) => `/resources/${id}`,
};

/** The path of the console's screen where one looks at what a record tells of, or acts. */
export function screenOf({ resourceType, resourceId }: FeedRecord): string {
  if (resourceId === null) return '/audit';
  return SCREENS[resourceType ?? '']?.(resourceId) ?? `/audit?resourceId=${resourceId}`;
}
