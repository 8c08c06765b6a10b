/** Set by the bundler, from package.json. */
declare const DRAWBRIDGE_RELEASE: string | undefined;

export const VERSION = typeof DRAWBRIDGE_RELEASE === 'undefined' ? 'unbundled' : DRAWBRIDGE_RELEASE;
