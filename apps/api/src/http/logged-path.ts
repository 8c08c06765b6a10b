/** Whoever knows the address of such a page may press its buttons. */
const SECRET_PART = /^(\/(?:billing\/sandbox|accept-invitation|reset-password)\/)[^/]+/i;

/** A request's path as logs may hold it: without its query, and without a part that is a secret. */
export const loggedPath = (url: string): string => url.replace(/[?#].*$/s, '').replace(SECRET_PART, '$1…');
