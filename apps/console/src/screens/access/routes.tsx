import { createRoute } from '@tanstack/react-router';
import { signedInRoute } from '../../layout/roots';
import { Page } from '../../ui';

const route = <Path extends string>(path: Path, title: string) =>
  createRoute({ getParentRoute: () => signedInRoute, path, component: () => <Page title={title} /> });

export const accessRoutes = [
  route('/', 'Access'),
  route('/history', 'History'),
  route('/account', 'Account'),
] as const;
