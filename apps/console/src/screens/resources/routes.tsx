import { createRoute } from '@tanstack/react-router';
import { administratorRoute } from '../../layout/roots';
import { Page } from '../../ui';

const route = <Path extends string>(path: Path, title: string) =>
  createRoute({ getParentRoute: () => administratorRoute, path, component: () => <Page title={title} /> });

export const resourceRoutes = [
  route('/resources', 'Resources'),
  route('/credentials', 'Credentials'),
] as const;
