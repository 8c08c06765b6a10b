import { RequestMethod } from '@nestjs/common';
import { PAGE_PATHS } from './browser-pages';

/** Files for programs, outside the API's prefix. */
export const DOWNLOADS_PATH = 'downloads';

/** What clients ask before they know anything else. */
export const DISCOVERY_PATH = '.well-known/drawbridge';

/** What clouds fetch of the issuers that they trust. */
export const ISSUER_PATH = 'oidc';

const UNPREFIXED_PATHS: readonly string[] = [...PAGE_PATHS, DOWNLOADS_PATH, DISCOVERY_PATH, ISSUER_PATH];

/** The routes outside the API's prefix, as Nest excludes them from it. */
export const UNPREFIXED_ROUTES = UNPREFIXED_PATHS.flatMap((path) =>
  [path, `${path}/{*path}`].map((route) => ({ path: route, method: RequestMethod.ALL })),
);

/** @param path without leading and trailing slashes */
export const isUnprefixed = (path: string): boolean =>
  UNPREFIXED_PATHS.some((known) => path === known || path.startsWith(`${known}/`));
