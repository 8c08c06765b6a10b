import { memberScreen } from '../../parts/screens';
import { list } from '../../parts/search';

export const requestRoutes = [
  memberScreen('/requests', () => import('./requests'), 'Requests', list),
  memberScreen('/requests/$id', () => import('./request'), 'Request'),
  memberScreen('/decide', () => import('./requests'), 'Decide', list),
] as const;
