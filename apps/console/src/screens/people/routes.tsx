import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { administratorRoute } from '../../layout/roots';
import { USER_STATUS, type User } from './parts';

type Search = Readonly<Record<string, unknown>>;

const parent = { getParentRoute: () => administratorRoute };
const role = () => import('./role');

/** A number in the address is a text here. */
const text = (given: unknown): string | undefined =>
  (typeof given === 'string' && given) || typeof given === 'number' ? String(given) : undefined;

const oneOf = <Value extends string>(given: unknown, values: readonly Value[]): Value | undefined =>
  values.find((value) => value === given);

const pageOf = ({ page }: Search): number | undefined =>
  typeof page === 'number' && Number.isInteger(page) && page > 0 ? page : undefined;

export interface PeopleSearch {
  readonly search?: string | undefined;
  readonly roleId?: string | undefined;
  readonly status?: User['status'] | undefined;
  readonly page?: number | undefined;
}

export const peopleRoute = createRoute({
  ...parent,
  path: '/people',
  validateSearch: (given: Search): PeopleSearch => ({
    search: text(given['search']),
    roleId: text(given['roleId']),
    status: oneOf(given['status'], Object.keys(USER_STATUS) as User['status'][]),
    page: pageOf(given),
  }),
  component: lazyRouteComponent(() => import('./people'), 'People'),
});

export const personRoute = createRoute({
  ...parent,
  path: '/people/$id',
  component: lazyRouteComponent(() => import('./person'), 'Person'),
});

export const rolesRoute = createRoute({
  ...parent,
  path: '/roles',
  validateSearch: (given: Search): { page?: number | undefined } => ({ page: pageOf(given) }),
  component: lazyRouteComponent(() => import('./roles'), 'Roles'),
});

export const roleRoute = createRoute({
  ...parent,
  path: '/roles/$id',
  component: lazyRouteComponent(role, 'Role'),
});

export const automationRoute = createRoute({
  ...parent,
  path: '/automation',
  validateSearch: (
    given: Search,
  ): { tab?: 'service-users' | 'trusts' | undefined; page?: number | undefined } => ({
    tab: oneOf(given['tab'], ['service-users', 'trusts']),
    page: pageOf(given),
  }),
  component: lazyRouteComponent(() => import('./automation'), 'Automation'),
});

/** `host`: the key is for the agent of it; `userId`: whom it acts for */
export const newKeyRoute = createRoute({
  ...parent,
  path: '/automation/keys/new',
  validateSearch: (given: Search): { host?: string | undefined; userId?: string | undefined } => ({
    host: text(given['host']),
    userId: text(given['userId']),
  }),
  component: lazyRouteComponent(() => import('./new-key'), 'NewKey'),
});

/** `preset`: the CI system */
export const newTrustRoute = createRoute({
  ...parent,
  path: '/automation/trusts/new',
  validateSearch: (given: Search): { preset?: string | undefined } => ({ preset: text(given['preset']) }),
  component: lazyRouteComponent(() => import('./new-trust'), 'NewTrust'),
});

export const trustRoute = createRoute({
  ...parent,
  path: '/automation/trusts/$id',
  component: lazyRouteComponent(() => import('./trust'), 'Trust'),
});

export const peopleRoutes = [
  peopleRoute,
  createRoute({
    ...parent,
    path: '/people/invite',
    component: lazyRouteComponent(() => import('./invite'), 'Invite'),
  }),
  personRoute,
  rolesRoute,
  createRoute({ ...parent, path: '/roles/new', component: lazyRouteComponent(role, 'NewRole') }),
  roleRoute,
  automationRoute,
  newKeyRoute,
  newTrustRoute,
  trustRoute,
] as const;
