import { administratorScreen } from '../../parts/screens';
import { list } from '../../parts/search';

export const webhookRoutes = [
  administratorScreen('/webhooks', () => import('./webhooks'), 'Webhooks', list),
  administratorScreen('/webhooks/new', () => import('./new-webhook'), 'NewWebhook'),
  administratorScreen('/webhooks/$id', () => import('./webhook'), 'Webhook', list),
] as const;
