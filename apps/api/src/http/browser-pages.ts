/** Paths outside the API's prefix, for browsers. */
export const PAGE_PATHS: readonly string[] = ['billing/sandbox', 'billing/return'];

/** @param path without leading and trailing slashes */
export const isPage = (path: string): boolean =>
  PAGE_PATHS.some((page) => path === page || path.startsWith(`${page}/`));
