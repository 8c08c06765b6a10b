import { administratorScreen } from '../../parts/screens';
import { oneOf, page, searchOf } from '../../parts/search';
import { setUpSearch, TABS } from './types';

const pages = searchOf({ page });
const tabs = searchOf({ tab: oneOf(TABS), page });

export const resourceRoutes = [
  administratorScreen('/set-up', () => import('./set-up'), 'SetUp', setUpSearch),
  administratorScreen('/resources', () => import('./resource-list'), 'Resources', pages),
  administratorScreen('/resources/$id', () => import('./resource-page'), 'ResourcePage', tabs),
  administratorScreen('/credentials', () => import('./credentials'), 'Credentials', pages),
  administratorScreen('/credentials/$id', () => import('./credentials'), 'CredentialPage'),
] as const;
