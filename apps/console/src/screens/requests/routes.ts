import { memberScreen } from '../../parts/screens';
import { page, searchOf } from '../../parts/search';

export const requestRoutes = [
  memberScreen('/requests', () => import('./requests'), 'Requests', searchOf({ page })),
  memberScreen('/requests/$id', () => import('./request'), 'Request'),
  memberScreen('/decide', () => import('./requests'), 'Decide', searchOf({ page })),
] as const;
