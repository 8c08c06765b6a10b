import { memberScreen } from '../../parts/screens';
import { list } from '../../parts/search';

export const accessRoutes = [
  memberScreen('/', () => import('./access'), 'Access'),
  memberScreen('/history', () => import('./history'), 'History', list),
  memberScreen('/sessions/$id', () => import('./session'), 'SessionScreen', list),
  memberScreen('/account', () => import('./account'), 'Account', list),
] as const;
