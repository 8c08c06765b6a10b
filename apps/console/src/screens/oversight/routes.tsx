import { administratorScreen } from '../../parts/screens';
import { id, list, listOn, oneOf, page, searchOf, text, time } from '../../parts/search';

const REPORT = searchOf({ resourceId: id, userId: id, address: text, at: time, from: time, to: time, page });
const TABS = listOn(['company-sign-in', 'policy', 'billing']);
const PROVIDER = searchOf({ page, test: oneOf(['now']) });
const provider = () => import('./identity-provider');

export const oversightRoutes = [
  administratorScreen('/attention', () => import('./attention'), 'Attention', list),
  administratorScreen('/open', () => import('./sessions'), 'Sessions', listOn(['all'])),
  administratorScreen('/static-rules', () => import('./static-rules'), 'StaticRules', list),
  administratorScreen('/static-rules/$id', () => import('./static-rules'), 'StaticRule'),
  administratorScreen('/reviews', () => import('./reviews'), 'Reviews', listOn(['static-rules'])),
  administratorScreen('/report', () => import('./report'), 'Report', REPORT),
  administratorScreen('/audit', () => import('./audit'), 'Audit', list),
  administratorScreen('/organization', () => import('./organization'), 'Organization', TABS),
  administratorScreen('/organization/providers/new', provider, 'NewProvider'),
  administratorScreen('/organization/providers/$id', provider, 'Provider', PROVIDER),
] as const;
