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

/** A link may leave out each of them. */
const optional = <Given extends object>(given: Given): Partial<Given> => given;

export const peopleRoutes = [
  createRoute({
    ...parent,
    path: '/people',
    validateSearch: (given: Search) =>
      optional({
        search: text(given['search']),
        roleId: text(given['roleId']),
        status: oneOf(given['status'], Object.keys(USER_STATUS) as User['status'][]),
        page: pageOf(given),
      }),
    component: lazyRouteComponent(() => import('./people'), 'People'),
  }),
  screen('/people/invite', () => import('./invite'), 'Invite'),
  screen('/people/$id', () => import('./person'), 'Person'),
  createRoute({
    ...parent,
    path: '/roles',
    validateSearch: (given: Search) => optional({ page: pageOf(given) }),
    component: lazyRouteComponent(() => import('./roles'), 'Roles'),
  }),
  screen('/roles/new', () => import('./role'), 'NewRole'),
  screen('/roles/$id', () => import('./role'), 'Role'),
  createRoute({
    ...parent,
    path: '/automation',
    validateSearch: (given: Search) =>
      optional({ tab: oneOf(given['tab'], ['service-users', 'trusts']), page: pageOf(given) }),
    component: lazyRouteComponent(() => import('./automation'), 'Automation'),
  }),
  /** `host`: the key is for the agent of it; `userId`: whom it acts for */
  createRoute({
    ...parent,
    path: '/automation/keys/new',
    validateSearch: (given: Search) => optional({ host: text(given['host']), userId: text(given['userId']) }),
    component: lazyRouteComponent(() => import('./new-key'), 'NewKey'),
  }),
  /** `preset`: the CI system */
  createRoute({
    ...parent,
    path: '/automation/trusts/new',
    validateSearch: (given: Search) => optional({ preset: text(given['preset']) }),
    component: lazyRouteComponent(() => import('./new-trust'), 'NewTrust'),
  }),
  screen('/automation/trusts/$id', () => import('./trust'), 'Trust'),
] as const;
