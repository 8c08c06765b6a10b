import { createRoute } from '@tanstack/react-router';
import { administratorRoute } from '../../layout/roots';
import { Page } from '../../ui';

const route = <Path extends string>(path: Path, title: string) =>
  createRoute({ getParentRoute: () => administratorRoute, path, component: () => <Page title={title} /> });

export const oversightRoutes = [
  route('/open', 'Open now'),
  route('/static-rules', 'Static IP rules'),
  route('/report', 'Access report'),
  route('/audit', 'Audit trail'),
  route('/organization', 'Organization'),
] as const;
