import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { administratorRoute } from '../../layout/roots';
import { searchOf } from './search';

const getParentRoute = () => administratorRoute;

const TABS = ['policy', 'billing'] as const;
type Tab = (typeof TABS)[number];

export const oversightRoutes = [
  createRoute({
    getParentRoute,
    path: '/open',
    validateSearch: searchOf('userId', 'resourceId'),
    component: lazyRouteComponent(() => import('./open-now'), 'OpenNow'),
  }),
  createRoute({
    getParentRoute,
    path: '/static-rules',
    validateSearch: searchOf(),
    component: lazyRouteComponent(() => import('./static-rules'), 'StaticRules'),
  }),
  createRoute({
    getParentRoute,
    path: '/static-rules/$id',
    component: lazyRouteComponent(() => import('./static-rule'), 'StaticRule'),
  }),
  createRoute({
    getParentRoute,
    path: '/report',
    validateSearch: searchOf('resourceId', 'userId', 'address', 'at', 'from', 'to'),
    component: lazyRouteComponent(() => import('./report'), 'Report'),
  }),
  createRoute({
    getParentRoute,
    path: '/audit',
    validateSearch: searchOf('eventType', 'actorEmail', 'resourceId', 'from', 'to'),
    component: lazyRouteComponent(() => import('./audit'), 'Audit'),
  }),
  createRoute({
    getParentRoute,
    path: '/organization',
    validateSearch: ({ tab }: Record<string, unknown>): { tab?: Tab } => {
      const known = TABS.find((each) => each === tab);
      return known ? { tab: known } : {};
    },
    component: lazyRouteComponent(() => import('./organization'), 'Organization'),
  }),
] as const;
