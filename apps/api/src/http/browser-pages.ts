/** Paths outside of the API's prefix: for browsers, not for clients of the API. */
export const PAGE_PATHS: readonly string[] = [
  'billing/sandbox',
  'billing/return',
  'accept-invitation',
  'reset-password',
];

/** @param path a controller's, without slashes around it */
export const isPage = (path: string): boolean =>
  PAGE_PATHS.some((page) => path === page || path.startsWith(`${page}/`));
