/** Set by the bundler, from package.json. */
declare const DRAWBRIDGE_RELEASE: string | undefined;

/** Name and release, as sent to the server. */
export const VERSION = `drawbridge-agent/${typeof DRAWBRIDGE_RELEASE === 'undefined' ? 'unbundled' : DRAWBRIDGE_RELEASE}`;
