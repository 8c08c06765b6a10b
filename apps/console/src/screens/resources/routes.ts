import { administratorScreen } from '../../parts/screens';
import { list, listOn } from '../../parts/search';
import { setUpSearch, TABS } from './steps';

export const resourceRoutes = [
  administratorScreen('/set-up', () => import('./set-up'), 'SetUp', setUpSearch),
  administratorScreen('/resources', () => import('./resource-list'), 'Resources', list),
  administratorScreen('/resources/$id', () => import('./resource-page'), 'ResourcePage', listOn(TABS)),
  administratorScreen('/credentials', () => import('./credentials'), 'Credentials', list),
  administratorScreen(
    '/credentials/$id',
    () => import('./credentials'),
    'CredentialPage',
    listOn(['accounts']),
  ),
] as const;
