import { administratorScreen } from '../../parts/screens';
import { id, oneOf, page, searchOf, text, time } from '../../parts/search';

const OPEN = searchOf({ userId: id, resourceId: id, page });
const REPORT = searchOf({ resourceId: id, userId: id, address: text, at: time, from: time, to: time, page });
const AUDIT = searchOf({ eventType: text, actorEmail: text, resourceId: id, from: time, to: time, page });
const TABS = searchOf({ tab: oneOf(['company-sign-in', 'policy', 'billing']) });
const PROVIDER = searchOf({ page, test: oneOf(['now']) });
const provider = () => import('./identity-provider');

export const oversightRoutes = [
  administratorScreen('/attention', () => import('./attention'), 'Attention', searchOf({ page })),
  administratorScreen('/open', () => import('./open-now'), 'OpenNow', OPEN),
  administratorScreen('/static-rules', () => import('./static-rules'), 'StaticRules', searchOf({ page })),
  administratorScreen('/static-rules/$id', () => import('./static-rules'), 'StaticRule'),
  administratorScreen('/report', () => import('./report'), 'Report', REPORT),
  administratorScreen('/audit', () => import('./audit'), 'Audit', AUDIT),
  administratorScreen('/organization', () => import('./organization'), 'Organization', TABS),
  administratorScreen('/organization/providers/new', provider, 'NewProvider'),
  administratorScreen('/organization/providers/$id', provider, 'Provider', PROVIDER),
] as const;
