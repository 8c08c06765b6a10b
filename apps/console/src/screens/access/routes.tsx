import { memberScreen } from '../../parts/screens';
import { id, oneOf, page, searchOf, time } from '../../parts/search';
import { STATUSES } from '../../parts/sessions';

const history = searchOf({ status: oneOf(STATUSES), resourceId: id, from: time, to: time, page });

export const accessRoutes = [
  memberScreen('/', () => import('./access'), 'Access'),
  memberScreen('/history', () => import('./history'), 'History', history),
  memberScreen('/sessions/$id', () => import('./session'), 'SessionScreen', searchOf({ page })),
  memberScreen('/account', () => import('./account'), 'Account', searchOf({ page })),
] as const;
