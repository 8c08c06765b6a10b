import { administratorScreen } from '../../parts/screens';
import { page, searchOf } from '../../parts/search';

const onePage = searchOf({ page });

export const webhookRoutes = [
  administratorScreen('/webhooks', () => import('./webhooks'), 'Webhooks', onePage),
  administratorScreen('/webhooks/new', () => import('./new-webhook'), 'NewWebhook'),
  administratorScreen('/webhooks/$id', () => import('./webhook'), 'Webhook', onePage),
] as const;
