import type { AuditEventType } from '#entities';
import { API_PREFIX } from '../errors/error-shape';

export interface AuditedAction {
  readonly eventType: AuditEventType;
  readonly resourceType: string;
}

const of = (
  resourceType: string,
  routes: Readonly<Record<string, AuditEventType>>,
): [string, AuditedAction][] =>
  Object.entries(routes).map(([route, eventType]) => [route, { eventType, resourceType }]);

/** The audited action of each route. `:` stands for a path parameter. */
const AUDITED_ACTIONS: ReadonlyMap<string, AuditedAction> = new Map([
  ...of('SESSION', {
    'POST /sessions': 'SESSION_STARTED',
    'POST /sessions/:/extend': 'SESSION_EXTENDED',
    'POST /sessions/:/renew': 'SESSION_EXTENDED',
    'POST /sessions/:/stop': 'SESSION_STOPPED',
    'POST /sessions/admin/:/stop': 'SESSION_STOPPED',
    'POST /sessions/admin/bulk': 'SESSION_STOPPED',
  }),
  ...of('ACCESS_REQUEST', {
    'POST /access-requests': 'ACCESS_REQUESTED',
    'POST /access-requests/:/approve': 'ACCESS_REQUEST_APPROVED',
    'POST /access-requests/:/deny': 'ACCESS_REQUEST_DENIED',
    'POST /access-requests/:/withdraw': 'ACCESS_REQUEST_APPROVAL_WITHDRAWN',
    'POST /access-requests/:/cancel': 'ACCESS_REQUEST_CANCELLED',
    'POST /access-requests/:/review': 'BREAK_GLASS_REVIEWED',
  }),
  ...of('RESOURCE', {
    'POST /resources': 'RESOURCE_CREATED',
    'POST /resources/bulk': 'RESOURCE_CREATED',
    'POST /resources/verify': 'RESOURCE_VERIFIED',
    'POST /resources/labels': 'RESOURCE_UPDATED',
    'PATCH /resources/:': 'RESOURCE_UPDATED',
    'DELETE /resources/:': 'RESOURCE_DELETED',
    'POST /resources/:/verify': 'RESOURCE_VERIFIED',
    'POST /resources/:/reconcile': 'RESOURCE_RECONCILED',
    'POST /resources/:/abandon': 'RESOURCE_ABANDONED',
    'POST /resources/:/confirm-guard': 'RESOURCE_GUARD_CONFIRMED',
  }),
  ...of('CREDENTIAL', {
    'POST /credentials': 'CREDENTIAL_CREATED',
    'PATCH /credentials/:': 'CREDENTIAL_UPDATED',
    'DELETE /credentials/:': 'CREDENTIAL_DELETED',
    'POST /credentials/:/verify': 'CREDENTIAL_VERIFIED',
    'PATCH /credentials/:/accounts/:': 'CREDENTIAL_UPDATED',
    'POST /credentials/:/accounts/:/verify': 'CREDENTIAL_VERIFIED',
    'POST /credentials/:/accounts/refresh': 'CREDENTIAL_UPDATED',
  }),
  ...of('ROLE', {
    'POST /roles': 'ROLE_CREATED',
    'PATCH /roles/:': 'ROLE_UPDATED',
    'DELETE /roles/:': 'ROLE_DELETED',
    'POST /roles/:/resources/:': 'ROLE_RESOURCE_ASSIGNED',
    'POST /roles/:/members': 'ROLE_UPDATED',
    'DELETE /roles/:/resources/:': 'ROLE_RESOURCE_UNASSIGNED',
    'POST /roles/:/users/:': 'ROLE_USER_ASSIGNED',
    'DELETE /roles/:/users/:': 'ROLE_USER_UNASSIGNED',
    'POST /reviews': 'MEMBERSHIP_REVIEWED',
  }),
  ...of('USER', {
    'POST /users': 'USER_CREATED',
    'POST /users/bulk': 'USER_UPDATED',
    'PATCH /users/:': 'USER_UPDATED',
    'PATCH /users/me/notices': 'USER_UPDATED',
    'DELETE /users/:': 'USER_DELETED',
    'POST /users/:/resend-invitation': 'INVITATION_SENT',
    'POST /users/:/password-link': 'PASSWORD_RESET_REQUESTED',
    'DELETE /users/:/sign-ins': 'SIGN_IN_ENDED',
    'POST /users/:/reset-mfa': 'MFA_RESET',
    'POST /users/:/lockdown': 'USER_LOCKED_DOWN',
    'DELETE /users/:/lockdown': 'USER_LOCKDOWN_LIFTED',
    'POST /mfa/setup/confirm': 'MFA_ENABLED',
    'POST /mfa/disable': 'MFA_DISABLED',
    'POST /mfa/recovery-codes/regenerate': 'MFA_RECOVERY_CODES_REGENERATED',
    'DELETE /auth/sign-ins/:': 'SIGN_IN_ENDED',
  }),
  ...of('STATIC_IP_RULE', {
    'POST /static-ip-rules': 'STATIC_IP_RULE_CREATED',
    'PATCH /static-ip-rules/:': 'STATIC_IP_RULE_UPDATED',
    'DELETE /static-ip-rules/:': 'STATIC_IP_RULE_DELETED',
  }),
  ...of('API_KEY', {
    'POST /api-keys': 'API_KEY_CREATED',
    'DELETE /api-keys/:': 'API_KEY_REVOKED',
  }),
  ...of('OIDC_TRUST', {
    'POST /oidc-trusts': 'OIDC_TRUST_CREATED',
    'PATCH /oidc-trusts/:': 'OIDC_TRUST_UPDATED',
    'DELETE /oidc-trusts/:': 'OIDC_TRUST_DELETED',
    'POST /oidc-trusts/:/explain': 'OIDC_TOKEN_EXPLAINED',
  }),
  ...of('IDENTITY_PROVIDER', {
    'POST /identity-providers': 'IDENTITY_PROVIDER_CREATED',
    'PATCH /identity-providers/:': 'IDENTITY_PROVIDER_UPDATED',
    'DELETE /identity-providers/:': 'IDENTITY_PROVIDER_DELETED',
    'POST /identity-providers/:/test': 'IDENTITY_PROVIDER_TESTED',
    'PUT /identity-providers/:/identities/:': 'IDENTITY_LINKED',
    'DELETE /identity-providers/:/identities/:': 'IDENTITY_UNLINKED',
  }),
  ...of('WEBHOOK', {
    'POST /webhooks': 'WEBHOOK_CREATED',
    'PATCH /webhooks/:': 'WEBHOOK_UPDATED',
    'DELETE /webhooks/:': 'WEBHOOK_DELETED',
    'POST /webhooks/:/rotate-secret': 'WEBHOOK_SECRET_ROTATED',
    'POST /webhooks/:/test': 'WEBHOOK_TESTED',
    'POST /webhooks/:/deliveries/:/redeliver': 'WEBHOOK_REDELIVERED',
  }),
  ...of('AGENT', {
    'POST /agents/:/release': 'AGENT_RELEASED',
  }),
  ...of('ORGANIZATION', {
    'PATCH /organization': 'ORGANIZATION_UPDATED',
    'PATCH /organization/settings': 'ORGANIZATION_SETTINGS_UPDATE',
    'PATCH /organization/billing': 'BILLING_DETAILS_UPDATED',
    'POST /organization/lockdown': 'ORGANIZATION_LOCKED_DOWN',
    'DELETE /organization/lockdown': 'ORGANIZATION_LOCKDOWN_LIFTED',
    'POST /organization/delete': 'ORGANIZATION_DELETED',
    'POST /platform/organizations/:/delete': 'ORGANIZATION_DELETED',
    'POST /platform/organizations/:/suspend': 'ORGANIZATION_SUSPENDED',
    'POST /platform/organizations/:/reactivate': 'ORGANIZATION_REACTIVATED',
  }),
  ...of('SUBSCRIPTION', {
    'POST /billing/subscribe': 'SUBSCRIPTION_CREATED',
    'POST /billing/cancel': 'SUBSCRIPTION_CANCELLED',
  }),
]);

/**
 * The audited action of a route; undefined when the route has none.
 * @param path the route's pattern: `/api/v1/roles/:id`
 */
export const auditedActionOf = (method: string, path: string): AuditedAction | undefined =>
  AUDITED_ACTIONS.get(`${method} ${path.replace(API_PREFIX, '').replaceAll(/:\w+/g, ':')}`);
