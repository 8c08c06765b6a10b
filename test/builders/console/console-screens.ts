import type { Drawbridge } from '../../harness/product/drawbridge';
import { mailedToken } from '../accounts/accounts';
import { email, founder } from '../accounts/people';

/** The objects whose pages are opened, by the route that shows one. */
export type KnownObjects = Readonly<Record<string, string>>;

/** Screens for who has not signed in, by route, and how one gets to them. */
const STRANGERS: Readonly<Record<string, (drawbridge: Drawbridge) => Promise<string>>> = {
  '/sign-in': () => Promise.resolve('/sign-in'),
  '/sign-in/company': () => Promise.resolve('/sign-in/company'),
  '/sign-in/sso': () => Promise.resolve('/sign-in/sso'),
  '/sign-in/sso-code': () => Promise.resolve('/sign-in/sso-code#code=one-time'),
  '/register': () => Promise.resolve('/register'),
  '/forgot-password': () => Promise.resolve('/forgot-password'),
  '/accept-invitation/$token': async (drawbridge) => {
    const address = email();
    await (await founder(drawbridge)).client.created('/users', { email: address });
    return `/accept-invitation/${await mailedToken(drawbridge, address)}`;
  },
  '/reset-password/$token': async (drawbridge) => {
    const { email: address } = await founder(drawbridge);
    await drawbridge.api.post('/auth/forgot-password', { email: address });
    return `/reset-password/${await mailedToken(drawbridge, address)}`;
  },
};

/** Steps of a screen that no link on it leads to. */
const STEPS: Readonly<Record<string, (known: KnownObjects) => readonly string[]>> = {
  '/set-up': (known) => {
    const made = `credential=${known['/credentials/$id']}&resource=${known['/resources/$id']}&role=${known['/roles/$id']}`;
    return ['resource', 'role', 'done'].map((step) => `?step=${step}&${made}`);
  },
};

/** Where a sign-in stops until a second factor is set up. */
export const MFA_SET_UP = '/set-up-mfa';

/** The address of a screen for who has not signed in; null: it is none. */
export const strangersPath = async (drawbridge: Drawbridge, route: string): Promise<string | null> =>
  (await STRANGERS[route]?.(drawbridge)) ?? null;

/**
 * The addresses of a screen for an administrator.
 * @param known when null, nothing was made yet: pages of objects have no address
 */
export function addressesOf(route: string, known: KnownObjects | null): string[] {
  if (route in STRANGERS || route === MFA_SET_UP) return [];
  if (known === null) return route.includes('$') ? [] : [route];
  if (!route.includes('$')) return [route, ...(STEPS[route]?.(known) ?? []).map((search) => route + search)];
  const id = known[route];
  if (id === undefined) throw new Error(`${route} needs an object: name one where the organization is built`);
  return [route.replace(/\$\w+/, id)];
}
