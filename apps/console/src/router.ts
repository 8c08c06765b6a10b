import { createRouter } from '@tanstack/react-router';
import { administratorRoute, openRoute, rootRoute, signedInRoute } from './layout/roots';
import { accessRoutes } from './screens/access/routes';
import { oversightRoutes } from './screens/oversight/routes';
import { peopleRoutes } from './screens/people/routes';
import { requestRoutes } from './screens/requests/routes';
import { resourceRoutes } from './screens/resources/routes';
import { signInRoutes } from './screens/sign-in/routes';
import { webhookRoutes } from './screens/webhooks/routes';

const routeTree = rootRoute.addChildren([
  openRoute.addChildren(signInRoutes),
  signedInRoute.addChildren([
    ...accessRoutes,
    ...requestRoutes,
    administratorRoute.addChildren([
      ...oversightRoutes,
      ...resourceRoutes,
      ...peopleRoutes,
      ...webhookRoutes,
    ]),
  ]),
]);

export const router = createRouter({ routeTree, scrollRestoration: true, defaultPreload: 'intent' });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
