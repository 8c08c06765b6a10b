import { createRoute, lazyRouteComponent, type SearchSchemaInput } from '@tanstack/react-router';
import { administratorRoute } from '../../layout/roots';
import { readSetUp, type SetUpSearch } from './set-up-steps';

type Given = Record<string, unknown>;

const TABS = ['rules', 'events', 'health', 'guard', 'settings'] as const;
type Tab = (typeof TABS)[number];

const textIn = <Name extends string>(given: Given, name: Name): { [Key in Name]?: string } =>
  // an address that names only digits is read as a number
  (['string', 'number'].includes(typeof given[name]) ? { [name]: String(given[name]) } : {}) as {
    [Key in Name]?: string;
  };

const pageIn = ({ page }: Given): { page?: number } =>
  Number.isSafeInteger(page) && Number(page) > 0 ? { page: Number(page) } : {};

/** A list: what is searched for, and the page. */
const listSearch = (given: Given): { q?: string; page?: number } => ({
  ...textIn(given, 'q'),
  ...pageIn(given),
});

/** The tab is always in the address, so that the current one can be marked. */
const tabSearch = (given: { tab?: Tab; page?: number } & SearchSchemaInput): { tab: Tab; page?: number } => ({
  tab: TABS.find((each) => each === given.tab) ?? 'rules',
  ...pageIn(given),
});

const parent = { getParentRoute: () => administratorRoute };

export const resourceRoutes = [
  createRoute({
    ...parent,
    path: '/set-up',
    validateSearch: (given: SetUpSearch & SearchSchemaInput) => readSetUp({ ...given }),
    component: lazyRouteComponent(() => import('./set-up'), 'SetUp'),
  }),
  createRoute({
    ...parent,
    path: '/resources',
    validateSearch: listSearch,
    component: lazyRouteComponent(() => import('./resource-list'), 'Resources'),
  }),
  createRoute({
    ...parent,
    path: '/resources/new',
    /** `resource`: it is made, and is verified */
    validateSearch: (given: Given): { credential?: string; resource?: string } => ({
      ...textIn(given, 'credential'),
      ...textIn(given, 'resource'),
    }),
    component: lazyRouteComponent(() => import('./resource-new'), 'NewResource'),
  }),
  createRoute({
    ...parent,
    path: '/resources/$id',
    validateSearch: tabSearch,
    component: lazyRouteComponent(() => import('./resource-page'), 'ResourcePage'),
  }),
  createRoute({
    ...parent,
    path: '/credentials',
    validateSearch: listSearch,
    component: lazyRouteComponent(() => import('./credentials'), 'Credentials'),
  }),
  createRoute({
    ...parent,
    path: '/credentials/new',
    component: lazyRouteComponent(() => import('./credential-new'), 'NewCredential'),
  }),
  createRoute({
    ...parent,
    path: '/credentials/$id',
    component: lazyRouteComponent(() => import('./credential-page'), 'CredentialPage'),
  }),
] as const;
