import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../layout/roots';
import { readHistorySearch } from './history-search';

const accessRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./access'), 'Access'),
});

const historyRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/history',
  validateSearch: readHistorySearch,
  component: lazyRouteComponent(() => import('./history'), 'History'),
});

const sessionRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/sessions/$id',
  validateSearch: ({ page }: Record<string, unknown>): { page?: number } =>
    typeof page === 'number' && Number.isInteger(page) && page > 0 ? { page } : {},
  component: lazyRouteComponent(() => import('./session'), 'SessionScreen'),
});

const accountRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('./account'), 'Account'),
});

export const accessRoutes = [accessRoute, historyRoute, sessionRoute, accountRoute] as const;
