import { administratorScreen } from '../../parts/screens';
import { id, oneOf, page, searchOf } from '../../parts/search';
import { TABS } from './types';

const pages = searchOf({ page });
const tabs = searchOf({ tab: oneOf(TABS), page });
/** the step, and what was made or chosen in those before */
const steps = searchOf({
  step: oneOf(['credential', 'resource', 'role', 'done']),
  credential: id,
  resource: id,
  role: id,
});

export const resourceRoutes = [
  administratorScreen('/set-up', () => import('./set-up'), 'SetUp', steps),
  administratorScreen('/resources', () => import('./resource-list'), 'Resources', pages),
  administratorScreen('/resources/$id', () => import('./resource-page'), 'ResourcePage', tabs),
  administratorScreen('/credentials', () => import('./credentials'), 'Credentials', pages),
  administratorScreen('/credentials/$id', () => import('./credentials'), 'CredentialPage'),
] as const;
