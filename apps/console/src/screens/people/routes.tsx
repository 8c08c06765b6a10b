import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { administratorRoute } from '../../layout/roots';
import { USER_STATUS, type User } from './parts';

type Search = Readonly<Record<string, unknown>>;

const parent = { getParentRoute: () => administratorRoute };

/** A screen without search parameters. */
const screen = <Path extends string, Name extends string>(
  path: Path,
  load: () => Promise<Record<Name, () => ReactNode>>,
  name: Name,
) => createRoute({ ...parent, path, component: lazyRouteComponent(load, name) });

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

export const personRoute = screen('/people/$id', () => import('./person'), 'Person');

export const rolesRoute = createRoute({
  ...parent,
  path: '/roles',
  validateSearch: (given: Search): { page?: number | undefined } => ({ page: pageOf(given) }),
  component: lazyRouteComponent(() => import('./roles'), 'Roles'),
});

export const roleRoute = screen('/roles/$id', () => import('./role'), 'Role');

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

export const trustRoute = screen('/automation/trusts/$id', () => import('./trust'), 'Trust');

export const peopleRoutes = [
  peopleRoute,
  screen('/people/invite', () => import('./invite'), 'Invite'),
  personRoute,
  rolesRoute,
  screen('/roles/new', () => import('./role'), 'NewRole'),
  roleRoute,
  automationRoute,
  newKeyRoute,
  newTrustRoute,
  trustRoute,
] as const;
