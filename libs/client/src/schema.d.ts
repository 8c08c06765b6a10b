/** Generated from openapi.json by `npm run openapi`. */

export interface paths {
  '/.well-known/drawbridge': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Discovery_discover'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/access-requests': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['AccessRequests_list'];
    put?: never;
    post: operations['AccessRequests_create'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/access-requests/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['AccessRequests_find'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/access-requests/{id}/approve': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['AccessRequests_approve'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/access-requests/{id}/cancel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['AccessRequests_cancel'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/access-requests/{id}/deny': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['AccessRequests_deny'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/access-requests/{id}/review': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['AccessRequests_review'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agents': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Agents_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agents/{name}/release': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Agents_release'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agents/report': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Agents_report'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/agents/state': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Agents_state'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/api-keys': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['ApiKeys_list'];
    put?: never;
    post: operations['ApiKeys_create'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/api-keys/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations['ApiKeys_revoke'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/audit-logs': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['AuditLogs_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/audit-logs/export': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['AuditLogs_export'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/change-expired-password': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Passwords_changeExpired'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/change-password': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Passwords_change'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/forgot-password': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Passwords_forgot'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/login': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Auth_login'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/logout': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Auth_logout'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/me': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Auth_me'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/oidc/exchange': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['OidcExchange_exchange'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/password-link': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Passwords_link'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/refresh': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Auth_refresh'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/register': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Auth_register'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/reset-password': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Passwords_reset'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/set-password': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Passwords_accept'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/sign-ins': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['SignIns_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/sign-ins/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations['SignIns_end'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/sso/{slug}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['SsoSignIn_start'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/sso/{slug}/callback': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['SsoSignIn_callback'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/sso/{slug}/providers': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['SsoSignIn_providers'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/sso/complete': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['SsoSignIn_complete'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/step-up': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['StepUp_stepUp'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/auth/verify-mfa': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Auth_verifyMfa'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/billing/cancel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Billing_cancel'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/billing/payments': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Billing_payments'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/billing/plans': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Billing_plans'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/billing/subscribe': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Billing_subscribe'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/billing/subscription': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Billing_subscription'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/billing/webhooks/{adapter}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['PaymentWebhook_receive'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/credentials': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Credentials_list'];
    put?: never;
    post: operations['Credentials_create'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/credentials/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Credentials_find'];
    put?: never;
    post?: never;
    delete: operations['Credentials_remove'];
    options?: never;
    head?: never;
    patch: operations['Credentials_update'];
    trace?: never;
  };
  '/api/v1/credentials/{id}/verify': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Credentials_verify'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/detect-ip': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Health_detect'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/health': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Health_health'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/health/ready': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Health_ready'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/identity-providers': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['IdentityProviders_list'];
    put?: never;
    post: operations['IdentityProviders_create'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/identity-providers/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['IdentityProviders_find'];
    put?: never;
    post?: never;
    delete: operations['IdentityProviders_delete'];
    options?: never;
    head?: never;
    patch: operations['IdentityProviders_update'];
    trace?: never;
  };
  '/api/v1/identity-providers/{id}/identities': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['IdentityProviders_listIdentities'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/identity-providers/{id}/identities/{identityId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations['IdentityProviders_link'];
    post?: never;
    delete: operations['IdentityProviders_unlink'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/identity-providers/{id}/test': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['IdentityProviders_test'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/mfa/disable': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Mfa_disable'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/mfa/recovery-codes/regenerate': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Mfa_regenerate'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/mfa/setup': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Mfa_setUp'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/mfa/setup/confirm': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Mfa_confirm'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/oidc-trusts': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['OidcTrusts_list'];
    put?: never;
    post: operations['OidcTrusts_create'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/oidc-trusts/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['OidcTrusts_find'];
    put?: never;
    post?: never;
    delete: operations['OidcTrusts_delete'];
    options?: never;
    head?: never;
    patch: operations['OidcTrusts_update'];
    trace?: never;
  };
  '/api/v1/oidc-trusts/{id}/explain': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['OidcTrusts_explain'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/oidc-trusts/presets': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['OidcTrusts_presets'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/organization': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Organization_find'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: operations['Organization_update'];
    trace?: never;
  };
  '/api/v1/organization/billing': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['OrganizationBilling_find'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: operations['OrganizationBilling_change'];
    trace?: never;
  };
  '/api/v1/organization/delete': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Organization_delete'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/organization/lockdown': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['OrganizationLockdown_declare'];
    delete: operations['OrganizationLockdown_lift'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/organization/settings': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Organization_settings'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: operations['Organization_updateSettings'];
    trace?: never;
  };
  '/api/v1/platform/organizations': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Platform_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/platform/organizations/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Platform_find'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/platform/organizations/{id}/delete': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Platform_delete'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/platform/organizations/{id}/reactivate': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Platform_reactivate'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/platform/organizations/{id}/suspend': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Platform_suspend'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/platform/overdue-rules': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Platform_overdueRules'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/reports/access': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Reports_access'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resource-health/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['ResourceHealth_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Resources_list'];
    put?: never;
    post: operations['Resources_create'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Resources_find'];
    put?: never;
    post?: never;
    delete: operations['Resources_delete'];
    options?: never;
    head?: never;
    patch: operations['Resources_update'];
    trace?: never;
  };
  '/api/v1/resources/{id}/abandon': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Resources_abandon'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources/{id}/confirm-guard': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Resources_confirmGuard'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources/{id}/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['ResourceEvents_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources/{id}/guard': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Resources_guard'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources/{id}/people': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Rights_people'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources/{id}/reconcile': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Resources_reconcile'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources/{id}/rules': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Resources_rules'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources/{id}/verify': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Resources_verify'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources/bulk': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Resources_createMany'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources/labels': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Resources_labelMany'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources/types': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['ResourceTypes_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/resources/verify': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Resources_verifyMany'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/roles': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Roles_list'];
    put?: never;
    post: operations['Roles_create'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/roles/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Roles_find'];
    put?: never;
    post?: never;
    delete: operations['Roles_delete'];
    options?: never;
    head?: never;
    patch: operations['Roles_update'];
    trace?: never;
  };
  '/api/v1/roles/{id}/members': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Roles_members'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/roles/{id}/resources/{resourceId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Roles_assignResource'];
    delete: operations['Roles_unassignResource'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/roles/{id}/users/{userId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Roles_assignUser'];
    delete: operations['Roles_unassignUser'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/sessions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Sessions_list'];
    put?: never;
    post: operations['Sessions_start'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/sessions/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Sessions_find'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/sessions/{id}/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['SessionEvents_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/sessions/{id}/extend': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Sessions_extend'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/sessions/{id}/renew': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Sessions_renew'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/sessions/{id}/stop': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Sessions_stop'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/sessions/admin': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Sessions_listAll'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/sessions/admin/{id}/stop': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Sessions_stopByAdmin'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/sessions/admin/bulk': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Sessions_bulk'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/sessions/plan': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Sessions_plan'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/static-ip-rules': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['StaticIpRules_list'];
    put?: never;
    post: operations['StaticIpRules_create'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/static-ip-rules/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['StaticIpRules_find'];
    put?: never;
    post?: never;
    delete: operations['StaticIpRules_delete'];
    options?: never;
    head?: never;
    patch: operations['StaticIpRules_update'];
    trace?: never;
  };
  '/api/v1/users': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Users_list'];
    put?: never;
    post: operations['Users_create'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/users/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Users_find'];
    put?: never;
    post?: never;
    delete: operations['Users_delete'];
    options?: never;
    head?: never;
    patch: operations['Users_update'];
    trace?: never;
  };
  '/api/v1/users/{id}/lockdown': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['UserLockdown_declare'];
    delete: operations['UserLockdown_lift'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/users/{id}/password-link': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Users_passwordLink'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/users/{id}/resend-invitation': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Users_resendInvitation'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/users/{id}/reset-mfa': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Users_resetMfa'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/users/{id}/resources': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Rights_ofUser'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/users/bulk': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Users_bulk'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/users/me/notices': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['OwnNotices_find'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: operations['OwnNotices_update'];
    trace?: never;
  };
  '/api/v1/webhooks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Webhooks_list'];
    put?: never;
    post: operations['Webhooks_create'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/webhooks/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Webhooks_find'];
    put?: never;
    post?: never;
    delete: operations['Webhooks_delete'];
    options?: never;
    head?: never;
    patch: operations['Webhooks_update'];
    trace?: never;
  };
  '/api/v1/webhooks/{id}/deliveries': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Webhooks_deliveries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Webhooks_redeliver'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/webhooks/{id}/rotate-secret': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Webhooks_rotate'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/v1/webhooks/{id}/test': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations['Webhooks_test'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/downloads': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Downloads_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/downloads/{file}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Downloads_download'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/oidc/{organizationId}/.well-known/openid-configuration': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Issuer_configuration'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/oidc/{organizationId}/jwks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations['Issuer_keys'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    AbandonResourceDto: {
      reason: string;
    };
    /** @enum {string} */
    AccessDecision: 'APPROVED' | 'DENIED' | 'REVIEWED';
    AccessDecisionDto: {
      /** Format: date-time */
      decidedAt: string;
      decision: components['schemas']['AccessDecision'];
      note: string | null;
      /** Format: email */
      userEmail: string;
      /** Format: uuid */
      userId: string;
    };
    AccessItemDto: {
      address: string;
      approvers: string[];
      breakGlass: boolean;
      cause: components['schemas']['RuleCause'] | null;
      /** Format: date-time */
      certainFrom: string | null;
      /** Format: date-time */
      certainUntil: string | null;
      /** Format: uuid */
      holderId: string | null;
      holderKind: components['schemas']['HolderKind'];
      ports: string;
      /** Format: date-time */
      possibleFrom: string | null;
      /** Format: date-time */
      possibleUntil: string | null;
      protocol: string;
      reason: string | null;
      resource: components['schemas']['AccessResourceDto'];
      target: components['schemas']['AccessTargetDto'];
      ticket: string | null;
      userEmail: string | null;
    };
    AccessRequestDto: {
      approvals: number;
      approvalsNeeded: number;
      approverRoles: components['schemas']['RequestedResourceDto'][];
      breakGlass: boolean;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      decideBy: string | null;
      decisions: components['schemas']['AccessDecisionDto'][];
      durationHours: number;
      /** Format: date-time */
      endedAt: string | null;
      /** Format: uuid */
      id: string;
      ipv4Address: string | null;
      ipv6Address: string | null;
      mayDecide: boolean;
      reason: string;
      resources: components['schemas']['RequestedResourceDto'][];
      /** Format: uuid */
      sessionId: string | null;
      status: components['schemas']['AccessRequestStatus'];
      ticket: string | null;
      /** Format: date-time */
      useBy: string | null;
      usedBefore: number;
      /** Format: email */
      userEmail: string;
      /** Format: uuid */
      userId: string;
      userName: string;
    };
    /** @enum {string} */
    AccessRequestStatus: 'WAITING' | 'APPROVED' | 'DENIED' | 'EXPIRED' | 'CANCELLED' | 'USED' | 'LAPSED';
    /** @enum {string} */
    AccessRequestView: 'mine' | 'decide' | 'all' | 'review';
    AccessResourceDto: {
      /** Format: uuid */
      id: string;
      name: string;
    };
    AccessTargetDto: {
      identifier: string;
      /** @enum {string} */
      provider: 'AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT';
    };
    /** @enum {string} */
    AdditionCause:
      | 'SESSION_STARTED'
      | 'STATIC_RULE_CREATED'
      | 'LOCKDOWN_LIFTED'
      | 'RESOURCE_MOVED'
      | 'CONFIG_CHANGED'
      | 'DRIFT_REPAIRED'
      | 'WRITER_RELEASED';
    AgentDto: {
      address: string | null;
      /** Format: date-time */
      createdAt: string;
      /** Format: uuid */
      id: string;
      keyName: string | null;
      name: string;
      /** Format: date-time */
      seenAt: string;
      software: string | null;
      /** @enum {string} */
      state: 'CONNECTED' | 'AWAY' | 'CONTESTED';
    };
    AgentReportDto: {
      agent: string;
      /** @default false */
      cleared?: boolean;
      guard?: components['schemas']['HostGuardDto'];
      instance?: string;
      results: components['schemas']['AgentResultDto'][];
      version: string;
    };
    AgentResultDto: {
      errorMessage?: string | null;
      /** Format: uuid */
      ruleId: string;
      /** @enum {string} */
      status: 'APPLIED' | 'FAILED' | 'REMOVED';
    };
    AgentRuleDto: {
      holders: components['schemas']['RuleHolderDto'][];
      /** Format: uuid */
      id: string;
      ipAddress: string;
      maxSilenceSeconds: number | null;
      ports: number[];
      /** @enum {string} */
      protocol: 'tcp' | 'udp' | 'icmp' | 'all';
      secondsLeft: number | null;
      unconfirmed: boolean;
    };
    AgentStateDto: {
      confirmed: components['schemas']['TrafficDto'][];
      guarded: components['schemas']['TrafficDto'][];
      proposed: components['schemas']['TrafficDto'][];
      released: components['schemas']['TrafficDto'][];
      restored: boolean;
      rules: components['schemas']['AgentRuleDto'][];
      /** Format: date-time */
      serverTime: string;
      version: string;
    };
    AgentVersionDto: {
      version: string;
    };
    ApiKeyDto: {
      agents: string[];
      /** Format: date-time */
      createdAt: string;
      /** Format: email */
      createdByEmail: string;
      description: string | null;
      /** Format: date-time */
      expiresAt: string | null;
      /** Format: uuid */
      id: string;
      isRevoked: boolean;
      keyPrefix: string;
      /** Format: date-time */
      lastUsedAt: string | null;
      lastUsedIp: string | null;
      name: string;
      /** Format: date-time */
      revokedAt: string | null;
      scopes: components['schemas']['Scope'][];
      /** Format: email */
      userEmail: string;
      /** Format: uuid */
      userId: string;
    };
    /** @enum {string} */
    AuditEventType:
      | 'ORGANIZATION_REGISTERED'
      | 'ORGANIZATION_UPDATED'
      | 'ORGANIZATION_SETTINGS_UPDATE'
      | 'ORGANIZATION_SUSPENDED'
      | 'ORGANIZATION_REACTIVATED'
      | 'ORGANIZATION_LOCKED_DOWN'
      | 'ORGANIZATION_LOCKDOWN_LIFTED'
      | 'ORGANIZATION_DELETED'
      | 'ORGANIZATION_CLOSED'
      | 'USER_LOGIN'
      | 'USER_LOGOUT'
      | 'USER_LOCKED_OUT'
      | 'SIGN_IN_ENDED'
      | 'TOKEN_REUSED'
      | 'PASSWORD_CHANGED'
      | 'PASSWORD_RESET_REQUESTED'
      | 'PASSWORD_RESET'
      | 'INVITATION_SENT'
      | 'INVITATION_ACCEPTED'
      | 'MFA_ENABLED'
      | 'MFA_DISABLED'
      | 'MFA_RESET'
      | 'MFA_RECOVERY_CODES_REGENERATED'
      | 'SECOND_FACTOR_PROVEN'
      | 'USER_CREATED'
      | 'USER_UPDATED'
      | 'USER_DELETED'
      | 'USER_LOCKED_DOWN'
      | 'USER_LOCKDOWN_LIFTED'
      | 'PLATFORM_ROLE_GRANTED'
      | 'CREDENTIAL_CREATED'
      | 'CREDENTIAL_UPDATED'
      | 'CREDENTIAL_DELETED'
      | 'CREDENTIAL_VERIFIED'
      | 'IDENTITY_TOKEN_SIGNED'
      | 'RESOURCE_CREATED'
      | 'RESOURCE_UPDATED'
      | 'RESOURCE_DELETED'
      | 'RESOURCE_VERIFIED'
      | 'ROLE_CREATED'
      | 'ROLE_UPDATED'
      | 'ROLE_DELETED'
      | 'ROLE_RESOURCE_ASSIGNED'
      | 'ROLE_RESOURCE_UNASSIGNED'
      | 'ROLE_USER_ASSIGNED'
      | 'ROLE_USER_UNASSIGNED'
      | 'STATIC_IP_RULE_CREATED'
      | 'STATIC_IP_RULE_UPDATED'
      | 'STATIC_IP_RULE_DELETED'
      | 'STATIC_IP_RULE_APPLIED'
      | 'STATIC_IP_RULE_FAILED'
      | 'API_KEY_CREATED'
      | 'API_KEY_REVOKED'
      | 'API_KEY_BOUND'
      | 'API_KEY_EXPIRING'
      | 'OIDC_TRUST_CREATED'
      | 'OIDC_TRUST_UPDATED'
      | 'OIDC_TRUST_DELETED'
      | 'OIDC_TOKEN_EXCHANGED'
      | 'OIDC_EXCHANGE_REFUSED'
      | 'OIDC_TOKEN_EXPLAINED'
      | 'IDENTITY_PROVIDER_CREATED'
      | 'IDENTITY_PROVIDER_UPDATED'
      | 'IDENTITY_PROVIDER_DELETED'
      | 'IDENTITY_PROVIDER_TESTED'
      | 'IDENTITY_LINKED'
      | 'IDENTITY_UNLINKED'
      | 'USER_REFUSED_BY_ISSUER'
      | 'COMPANY_SIGN_IN_ENDED'
      | 'USER_NOT_SIGNED_IN_AGAIN'
      | 'WEBHOOK_CREATED'
      | 'WEBHOOK_UPDATED'
      | 'WEBHOOK_DELETED'
      | 'WEBHOOK_SECRET_ROTATED'
      | 'WEBHOOK_TESTED'
      | 'WEBHOOK_REDELIVERED'
      | 'WEBHOOK_DISABLED'
      | 'BILLING_DETAILS_UPDATED'
      | 'SUBSCRIPTION_CREATED'
      | 'SUBSCRIPTION_ACTIVATED'
      | 'SUBSCRIPTION_CANCELLED'
      | 'SUBSCRIPTION_PAST_DUE'
      | 'SUBSCRIPTION_EXPIRED'
      | 'PAYMENT_SUCCEEDED'
      | 'PAYMENT_FAILED'
      | 'SESSION_STARTED'
      | 'SESSION_EXTENDED'
      | 'SESSION_STOPPED'
      | 'SESSION_ACTIVATED'
      | 'SESSION_EXPIRING'
      | 'SESSION_EXPIRED'
      | 'SESSION_FAILED'
      | 'SESSION_CANCELLED'
      | 'ACCESS_REQUESTED'
      | 'ACCESS_REQUEST_APPROVAL_GIVEN'
      | 'ACCESS_REQUEST_APPROVAL_WITHDRAWN'
      | 'ACCESS_REQUEST_APPROVED'
      | 'ACCESS_REQUEST_DENIED'
      | 'ACCESS_REQUEST_CANCELLED'
      | 'ACCESS_REQUEST_EXPIRED'
      | 'ACCESS_REQUEST_LAPSED'
      | 'BREAK_GLASS_STARTED'
      | 'BREAK_GLASS_REVIEWED'
      | 'RULE_REVOCATION_OVERDUE'
      | 'RULE_ORPHAN_REMOVED'
      | 'RESTORE_CONFIRMED'
      | 'RESOURCE_RECONCILED'
      | 'RESOURCE_ABANDONED'
      | 'RESOURCE_GUARD_CONFIRMED'
      | 'AGENT_CONNECTED'
      | 'AGENT_OFFLINE'
      | 'AGENT_DUPLICATED'
      | 'AGENT_RELEASED'
      | 'AGENT_GUARD_CHANGED';
    AuditPageDto: {
      content: components['schemas']['AuditRecordDto'][];
      first: boolean;
      last: boolean;
      number: number;
      numberOfElements: number;
      size: number;
      totalElements: number;
      totalPages: number;
    };
    AuditRecordDto: {
      actorEmail: string | null;
      /** Format: uuid */
      actorId: string | null;
      /** @enum {string} */
      actorType: 'USER' | 'API_KEY' | 'SYSTEM' | 'AGENT' | 'SESSION';
      details: {
        [key: string]: unknown;
      };
      errorMessage: string | null;
      eventType: components['schemas']['AuditEventType'];
      /** Format: uuid */
      id: string;
      ipAddress: string | null;
      /** Format: uuid */
      resourceId: string | null;
      resourceName: string | null;
      resourceType: string | null;
      /** @enum {string} */
      result: 'SUCCESS' | 'FAILURE';
      /** Format: date-time */
      timestamp: string;
    };
    BillingDetailsDto: {
      billingAddressLine1: string | null;
      billingAddressLine2: string | null;
      billingCity: string | null;
      billingContactName: string | null;
      billingCountry: string | null;
      billingEmail: string | null;
      billingPostalCode: string | null;
      billingState: string | null;
      companyName: string | null;
      vatNumber: string | null;
    };
    BulkCreateResourcesDto: {
      resources: components['schemas']['CreateResourceDto'][];
    };
    BulkLabelsDto: {
      remove?: string[];
      resourceIds: string[];
      set?: {
        [key: string]: string;
      };
    };
    /** @enum {string} */
    BulkOutcome: 'DONE' | 'UNCHANGED' | 'REFUSED';
    BulkResourcesDto: {
      resourceIds: string[];
    };
    BulkResultDto: {
      /** Format: uuid */
      id: string | null;
      message?: string;
      outcome: components['schemas']['BulkOutcome'];
      status?: number;
    };
    BulkResultsDto: {
      results: components['schemas']['BulkResultDto'][];
    };
    BulkSessionsDto: {
      /** @enum {string} */
      action: 'STOP';
      sessionIds: string[];
    };
    BulkUsersDto: {
      /** @enum {string} */
      action: 'RESEND_INVITATION' | 'DEACTIVATE' | 'ACTIVATE' | 'LOCK_DOWN';
      reason?: string;
      userIds: string[];
    };
    ChangeBillingDetailsDto: {
      billingAddressLine1?: string | null;
      billingAddressLine2?: string | null;
      billingCity?: string | null;
      billingContactName?: string | null;
      billingCountry?: string | null;
      /** Format: email */
      billingEmail?: string | null;
      billingPostalCode?: string | null;
      billingState?: string | null;
      companyName?: string | null;
      vatNumber?: string | null;
    };
    ChangeExpiredPasswordDto: {
      /** Format: password */
      newPassword: string;
      passwordChangeToken: string;
      /**
       * @default body
       * @enum {string}
       */
      refreshTokenIn?: 'body' | 'cookie';
    };
    ChangePasswordDto: {
      /** Format: password */
      currentPassword: string;
      /** Format: password */
      newPassword: string;
    };
    ClosedRuleDto: {
      address: string;
      ports: string;
      protocol: string;
      resourceName: string;
    };
    CodedErrorDto: {
      error: string;
      message: string;
      /** Format: date-time */
      timestamp: string;
    };
    CompleteSsoDto: {
      code: string;
      deviceToken?: string | null;
      /**
       * @default body
       * @enum {string}
       */
      refreshTokenIn?: 'body' | 'cookie';
      verifier: string;
    };
    ConfigFieldDto: {
      choices?: string[];
      description: string;
      example: number | string | (number | string)[];
      flags?: string;
      label: string;
      maximum?: number;
      minimum?: number;
      mostItems?: number;
      name: string;
      pattern?: string;
      required: boolean;
      /** @enum {string} */
      type: 'integer' | 'integers' | 'text' | 'texts';
      words: string[];
    };
    CreateAccessRequestDto: {
      durationHours?: number;
      ipv4Address?: string;
      ipv6Address?: string;
      reason: string;
      resourceIds?: string[];
      resourceNames?: string[];
      ticket?: string;
    };
    CreateApiKeyDto: {
      agents?: string[] | null;
      description?: string | null;
      /** Format: date-time */
      expiresAt?: string | null;
      name: string;
      scopes: components['schemas']['Scope'][];
      /** Format: uuid */
      userId?: string | null;
    };
    CreateCredentialDto: {
      credentialData?: {
        [key: string]: string;
      };
      credentialType: string;
      name: string;
      /** @enum {string} */
      provider: 'AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT';
    };
    CreatedApiKeyDto: {
      agents: string[];
      /** Format: date-time */
      createdAt: string;
      /** Format: email */
      createdByEmail: string;
      description: string | null;
      /** Format: date-time */
      expiresAt: string | null;
      /** Format: uuid */
      id: string;
      isRevoked: boolean;
      keyPrefix: string;
      /** Format: date-time */
      lastUsedAt: string | null;
      lastUsedIp: string | null;
      name: string;
      plainTextKey: string;
      /** Format: date-time */
      revokedAt: string | null;
      scopes: components['schemas']['Scope'][];
      /** Format: email */
      userEmail: string;
      /** Format: uuid */
      userId: string;
    };
    CreatedUserDto: {
      /** Format: date-time */
      createdAt: string;
      /** Format: email */
      email: string;
      /** Format: uuid */
      id: string;
      identityProviders: string[];
      invitationUrl: string | null;
      /** Format: date-time */
      invitedAt: string | null;
      isActive: boolean;
      isOrgAdmin: boolean;
      isService: boolean;
      /** Format: date-time */
      lastLoginAt: string | null;
      lockdown: components['schemas']['LockdownDto'] | null;
      mfaEnabled: boolean;
      name: string;
      /** @enum {string} */
      platformRole: 'CUSTOMER' | 'SUPPORT' | 'SUPER_ADMIN';
      roleNames: string[];
      status: components['schemas']['UserStatus'];
      /** Format: date-time */
      updatedAt: string;
    };
    CreatedWebhookDto: {
      /** Format: date-time */
      createdAt: string;
      /** Format: email */
      createdByEmail: string;
      eventTypes: components['schemas']['AuditEventType'][];
      /** Format: date-time */
      failingSince: string | null;
      format: components['schemas']['WebhookFormat'];
      /** Format: uuid */
      id: string;
      isEnabled: boolean;
      lastError: string | null;
      secret: string;
      /** Format: date-time */
      updatedAt: string;
      url: string;
    };
    CreateIdentityProviderDto: {
      clientId: string;
      clientSecret: string;
      createUsers?: boolean;
      emailDomains?: string[];
      /** @default true */
      enabled?: boolean;
      groupMappings?: components['schemas']['GroupMappingDto'][];
      groupPattern?: string | null;
      groupsClaim?: string | null;
      issuer: string;
      name: string;
      trustsSecondFactor?: boolean;
    };
    CreateOidcTrustDto: {
      conditions: {
        [key: string]: string[];
      };
      issuer?: string | null;
      name: string;
      /** @default CUSTOM */
      preset?: components['schemas']['OidcPreset'];
      roleIds?: string[] | null;
      scopes: components['schemas']['WorkloadScope'][];
    };
    CreateResourceDto: {
      config?: components['schemas']['ResourceConfigDto'];
      /** Format: uuid */
      credentialId: string;
      endpoint?: string | null;
      labels?: {
        [key: string]: string;
      };
      name: string;
      /** @enum {string} */
      provider: 'AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT';
      region?: string;
      resourceIdentifier: string;
      resourceType: string;
    };
    CreateRoleDto: {
      /** @default 0 */
      approvals?: number;
      approverRoleIds?: string[];
      description?: string;
      /** @default 128 */
      ipv6PrefixLength?: number;
      maxSessionDurationHours?: number;
      /** @default false */
      mayBreakGlass?: boolean;
      name: string;
      reasonPattern?: string | null;
      /** @default false */
      requireReason?: boolean;
      resourceIds?: string[];
      resourceSelector?: {
        [key: string]: string[];
      } | null;
      userIds?: string[];
    };
    CreateStaticIpRuleDto: {
      ipAddress: string;
      label: string;
      resourceIds: string[];
    };
    CreateUserDto: {
      /** Format: email */
      email?: string;
      /** @default false */
      isOrgAdmin?: boolean | null;
      /** @default false */
      isService?: boolean | null;
      name?: string | null;
      /** Format: password */
      password?: string | null;
      roleIds?: string[] | null;
    };
    CreateWebhookDto: {
      eventTypes?: components['schemas']['AuditEventType'][];
      /** @default standard */
      format?: components['schemas']['WebhookFormat'];
      url: string;
    };
    CredentialDto: {
      /** Format: date-time */
      createdAt: string;
      credentialType: string;
      /** Format: uuid */
      externalId?: string;
      hints: {
        [key: string]: string;
      };
      /** Format: uuid */
      id: string;
      identity?: components['schemas']['CredentialIdentityDto'];
      isValid: boolean | null;
      /** Format: date-time */
      lastVerifiedAt: string | null;
      name: string;
      /** @enum {string} */
      provider: 'AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT';
      setup?: string;
      /** Format: date-time */
      updatedAt: string;
      verificationError: string | null;
    };
    CredentialFieldDto: {
      description: string;
      fixed: boolean;
      form?: components['schemas']['TextFormDto'];
      label: string;
      name: string;
      required: boolean;
      secret: boolean;
    };
    CredentialIdentityDto: {
      issuer: string;
      setup: string;
      subject: string;
    };
    CredentialTypeDto: {
      credentialType: string;
      fields: components['schemas']['CredentialFieldDto'][];
      label: string;
      needsIssuer: boolean;
      setup?: string;
    };
    DecideDto: {
      note?: string;
    };
    DeleteOrganizationDto: {
      code: string;
      confirmSlug: string;
    };
    /** @enum {string} */
    DeliveryStatus: 'PENDING' | 'REDELIVERING' | 'DELIVERED' | 'FAILED';
    DemandedClaimDto: {
      claim: string;
      words: string | null;
    };
    DetectedAddressDto: {
      ip: string;
      /** @enum {string} */
      version: 'IPv4' | 'IPv6';
      warnings: string[];
    };
    DiscoveryDto: {
      ipv4Url: string | null;
      ipv6Url: string | null;
      version: string;
    };
    DownloadDto: {
      description: string;
      name: string;
      sha256: string;
      size: number;
    };
    EmptyDto: Record<string, never>;
    EndedByLockdownDto: {
      sessions: number;
      staticIpRules: number;
    };
    ErrorDto: {
      error: string;
      message: string;
      path: string;
      status: number;
      /** Format: date-time */
      timestamp: string;
      validationErrors?: {
        [key: string]: string;
      };
    };
    ExchangeIdTokenDto: {
      idToken: string;
      /** Format: uuid */
      trustId?: string | null;
    };
    ExtendSessionDto: {
      additionalHours: number;
    };
    ForgotPasswordDto: {
      /** Format: email */
      email: string;
      organizationSlug?: string;
    };
    GivingRoleDto: {
      /** @enum {string} */
      by: 'ID' | 'LABEL';
      /** Format: uuid */
      id: string;
      name: string;
    };
    GroupMappingDto: {
      group: string;
      isOrgAdmin?: boolean;
      /** Format: uuid */
      roleId?: string | null;
    };
    HealthDto: {
      /** @enum {string} */
      status: 'UP';
    };
    HealthEventDto: {
      /** Format: date-time */
      createdAt: string;
      /** @enum {string} */
      eventType: 'VERIFY_OK' | 'VERIFY_FAILED' | 'RECONCILE_OK' | 'RECONCILE_FAILED';
      /** Format: uuid */
      id: string;
      message: string | null;
      /** Format: uuid */
      resourceId: string;
      resourceName: string;
    };
    HealthEventPageDto: {
      content: components['schemas']['HealthEventDto'][];
      first: boolean;
      last: boolean;
      number: number;
      numberOfElements: number;
      size: number;
      totalElements: number;
      totalPages: number;
    };
    /** @enum {string} */
    HolderKind: 'SESSION' | 'STATIC_RULE' | 'ORPHAN' | 'UNMANAGED' | 'OTHER';
    HostConnectionDto: {
      address: string;
      port: number;
      /** @enum {string} */
      protocol: 'tcp' | 'udp' | 'icmp' | 'all';
    };
    HostGuardDto: {
      connections: components['schemas']['HostConnectionDto'][];
      guarded: components['schemas']['TrafficDto'][];
      leftAlone: components['schemas']['TrafficDto'][];
      otherChains?: string[];
      refused: components['schemas']['RefusedTrafficDto'][];
      waiting: components['schemas']['TrafficDto'][];
    };
    IdentifierFormDto: {
      description: string;
      example: string;
      flags: string;
      pattern: string;
      words: string;
    };
    IdentityProviderDto: {
      clientId: string;
      /** Format: date-time */
      createdAt: string;
      /** Format: email */
      createdByEmail: string;
      createUsers: boolean;
      emailDomains: string[];
      enabled: boolean;
      groupMappings: components['schemas']['StoredGroupMappingDto'][];
      groupPattern: string | null;
      groupsClaim: string | null;
      /** Format: uuid */
      id: string;
      issuer: string;
      lastError: string | null;
      name: string;
      redirectUri: string;
      trustsSecondFactor: boolean;
      /** Format: date-time */
      updatedAt: string;
    };
    IdentityProviderTestDto: {
      checks: components['schemas']['IssuerCheckDto'][];
      ok: boolean;
    };
    IdTokenDto: {
      idToken: string;
    };
    IssuerCheckDto: {
      message: string;
      name: string;
      ok: boolean;
    };
    IssuerConfigurationDto: {
      authorization_endpoint: string;
      claims_supported: string[];
      id_token_signing_alg_values_supported: string[];
      issuer: string;
      jwks_uri: string;
      response_types_supported: string[];
      subject_types_supported: string[];
    };
    LinkIdentityDto: {
      /** Format: uuid */
      userId: string;
    };
    LockdownDto: {
      /** Format: date-time */
      declaredAt: string;
      declaredBy: string;
      reason: string;
      scope: components['schemas']['LockdownScope'];
      staticRules: boolean;
    };
    LockDownOrganizationDto: {
      reason: string;
      /** @default false */
      staticRules?: boolean | null;
    };
    /** @enum {string} */
    LockdownScope: 'ORGANIZATION' | 'USER';
    LockDownUserDto: {
      reason: string;
    };
    LoginAnswerDto: {
      accessToken: string | null;
      deviceToken: string | null;
      expiresIn: number | null;
      mfaChallengeExpiresIn: number | null;
      mfaChallengeToken: string | null;
      mfaRequired: boolean;
      mfaSetupRequired: boolean;
      passwordChangeToken: string | null;
      passwordExpired: boolean;
      refreshToken: string | null;
      /** @enum {string|null} */
      tokenType: 'Bearer' | null;
      user: components['schemas']['SignedInUserDto'] | null;
    };
    LoginDto: {
      deviceToken?: string | null;
      /** Format: email */
      email: string;
      organizationSlug?: string;
      /** Format: password */
      password: string;
      /**
       * @default body
       * @enum {string}
       */
      refreshTokenIn?: 'body' | 'cookie';
    };
    LogoutDto: {
      refreshToken?: string;
    };
    MeDto: {
      /** Format: date-time */
      createdAt: string;
      defaultSessionHours: number;
      email: string;
      /** Format: uuid */
      id: string;
      isActive: boolean;
      isOrgAdmin: boolean;
      /** Format: date-time */
      lastLoginAt: string | null;
      lockdown: components['schemas']['LockdownDto'] | null;
      mfaEnabled: boolean;
      name: string;
      organization: components['schemas']['OwnOrganizationDto'];
      /** @enum {string} */
      platformRole: 'CUSTOMER' | 'SUPPORT' | 'SUPER_ADMIN';
      roleNames: string[];
      /** Format: date-time */
      updatedAt: string;
    };
    MessageDto: {
      message: string;
    };
    MfaCodeDto: {
      code: string;
    };
    MfaSetupDto: {
      otpauthUrl: string;
      qrCodeBase64: string;
      secret: string;
    };
    NoticesDto: {
      agentAway: boolean;
      keyExpiring: boolean;
      mailed: boolean;
      resourceHealth: boolean;
      sessionExpiring: boolean;
      sessionStopped: boolean;
      trustRefused: boolean;
    };
    OfferedProviderDto: {
      /** Format: uuid */
      id: string;
      name: string;
    };
    OfferedProvidersDto: {
      items: components['schemas']['OfferedProviderDto'][];
    };
    /** @enum {string} */
    OidcPreset: 'GITHUB' | 'GITLAB' | 'BUILDKITE' | 'CUSTOM';
    OidcPresetDto: {
      demanded: string[];
      issuer: string | null;
      oneOf: components['schemas']['DemandedClaimDto'][][];
      preset: components['schemas']['OidcPreset'];
      refused: components['schemas']['RefusedClaimDto'][];
    };
    OidcTrustDto: {
      audience: string;
      conditions: {
        [key: string]: string[];
      };
      /** Format: date-time */
      createdAt: string;
      /** Format: email */
      createdByEmail: string;
      /** Format: uuid */
      id: string;
      isEnabled: boolean;
      isServiceUserActive: boolean;
      issuer: string;
      /** Format: date-time */
      lastUsedAt: string | null;
      name: string;
      preset: components['schemas']['OidcPreset'];
      scopes: components['schemas']['WorkloadScope'][];
      /** Format: email */
      serviceUserEmail: string;
      /** Format: uuid */
      serviceUserId: string;
      /** Format: date-time */
      updatedAt: string;
      warnings: string[];
    };
    OrganizationDto: {
      /** Format: date-time */
      createdAt: string;
      /** Format: uuid */
      id: string;
      lockdown: components['schemas']['LockdownDto'] | null;
      name: string;
      /** Format: uuid */
      recoveryAdministratorId: string | null;
      slug: string;
      ssoRedirectUri: string;
      ssoRequired: boolean;
      /** @enum {string} */
      subscriptionTier: 'FREE' | 'PAID';
      suspended: boolean;
      /** Format: date-time */
      updatedAt: string;
    };
    OrganizationSettingsDto: {
      mfaRequired: boolean;
      passwordExpirationDays: number | null;
      passwordMinLength: number;
      passwordRequireDigit: boolean;
      passwordRequireLowercase: boolean;
      passwordRequireSpecialChar: boolean;
      passwordRequireUppercase: boolean;
      requireDetectedAddress: boolean;
      reSignInGraceHours: number;
    };
    OverdueRuleDto: {
      address: string;
      cause: components['schemas']['RemovalCause'] | null;
      /** Format: uuid */
      credentialId: string | null;
      /** Format: uuid */
      id: string;
      identifier: string;
      lastError: string | null;
      organizations: components['schemas']['OverdueRuleOrganizationDto'][];
      ports: string;
      protocol: string;
      /** @enum {string} */
      provider: 'AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT';
      resourceType: string;
      /** Format: date-time */
      unwantedSince: string;
    };
    OverdueRuleOrganizationDto: {
      /** Format: uuid */
      id: string;
      slug: string;
    };
    OwnOrganizationDto: {
      /** Format: uuid */
      id: string;
      name: string;
      requireDetectedAddress: boolean;
      slug: string;
      /** @enum {string} */
      subscriptionTier: 'FREE' | 'PAID';
      suspended: boolean;
    };
    PasswordLinkDto: {
      passwordResetUrl: string;
    };
    PasswordLinkRequestDto: {
      token: string;
    };
    PasswordLinkUseDto: {
      email: string;
      name: string;
      organizationName: string;
      organizationSlug: string;
      passwordPolicy: components['schemas']['PasswordPolicyDto'];
      passwordRules: string;
      /** @enum {string} */
      purpose: 'INVITE' | 'RESET';
    };
    PasswordPolicyDto: {
      passwordMinLength: number;
      passwordRequireDigit: boolean;
      passwordRequireLowercase: boolean;
      passwordRequireSpecialChar: boolean;
      passwordRequireUppercase: boolean;
    };
    PaymentDto: {
      amountCents: number;
      /** Format: date-time */
      createdAt: string;
      currency: string;
      /** Format: uuid */
      id: string;
      reference: string | null;
      status: components['schemas']['PaymentStatus'];
    };
    /** @enum {string} */
    PaymentStatus: 'SUCCEEDED' | 'FAILED';
    PersonRightDto: {
      approvalsNeeded: number;
      /** Format: email */
      email: string;
      maxSessionDurationHours: number;
      mayBreakGlass: boolean;
      name: string;
      needsReason: boolean;
      openNow: boolean;
      roles: components['schemas']['GivingRoleDto'][];
      status: components['schemas']['UserStatus'];
      /** Format: uuid */
      userId: string;
    };
    PlanDto: {
      currency: string | null;
      displayName: string;
      /** Format: uuid */
      id: string;
      interval: components['schemas']['PlanInterval'] | null;
      limits: components['schemas']['PlanLimitsDto'];
      name: string;
      priceCents: number | null;
      tier: components['schemas']['Tier'];
    };
    /** @enum {string} */
    PlanInterval: 'MONTH' | 'YEAR';
    PlanLimitsDto: {
      maxResources: number | null;
      maxSessionDurationHours: number;
      maxUsers: number | null;
    };
    PlannedResourceDto: {
      /** Format: uuid */
      resourceId: string;
      resourceName: string;
      rules: components['schemas']['PlannedRuleDto'][];
    };
    PlannedRuleDto: {
      address: string;
      by: string | null;
      /** @enum {string} */
      outcome: 'OPENS' | 'SHARED' | 'ALREADY_OPEN';
      ports: string;
      protocol: string;
    };
    PlanRefusalDto: {
      error: string;
      message: string;
      status: number;
      validationErrors?: {
        [key: string]: string;
      };
    };
    PlatformOrganizationDto: {
      /** Format: date-time */
      createdAt: string;
      /** Format: uuid */
      id: string;
      liveSessionCount: number;
      name: string;
      resourceCount: number;
      slug: string;
      /** @enum {string} */
      status: 'ACTIVE' | 'SUSPENDED' | 'TERMINATING' | 'DELETED';
      /** @enum {string} */
      subscriptionTier: 'FREE' | 'PAID';
      suspended: boolean;
      /** Format: date-time */
      suspendedAt: string | null;
      suspendedReason: string | null;
      /** Format: date-time */
      updatedAt: string;
      userCount: number;
    };
    ProviderLimitsDto: {
      callForEachRule: boolean;
      rulesInOneBatch: number;
      secondsForACall: number;
      writesInABurst: number;
      writesPerSecond: number;
    };
    ProviderTypesDto: {
      credentialTypes: components['schemas']['CredentialTypeDto'][];
      label: string;
      limits?: components['schemas']['ProviderLimitsDto'];
      needsAgent: boolean;
      policy: string;
      /** @enum {string} */
      provider: 'AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT';
      region?: components['schemas']['TextFormDto'];
      resourceTypes: components['schemas']['ResourceTypeDto'][];
      revocation: components['schemas']['RevocationDto'];
    };
    PublicKeyDto: {
      /** @enum {string} */
      alg: 'RS256';
      e: string;
      kid: string;
      /** @enum {string} */
      kty: 'RSA';
      n: string;
      /** @enum {string} */
      use: 'sig';
    };
    PublicKeysDto: {
      keys: components['schemas']['PublicKeyDto'][];
    };
    ReadinessDto: {
      /** @enum {string} */
      database: 'UP' | 'RESTORED' | 'DOWN';
      /** @enum {string} */
      queue: 'UP' | 'DOWN';
      /** @enum {string} */
      status: 'UP' | 'DEGRADED' | 'DOWN';
      /** @enum {string} */
      worker: 'UP' | 'AWAY';
    };
    ReasonDto: {
      reason: string;
    };
    ReceivedDto: {
      received: boolean;
    };
    RecoveryCodesDto: {
      recoveryCodes: string[];
    };
    RefreshAnswerDto: {
      accessToken: string;
      expiresIn: number;
      mfaSetupRequired: boolean;
      refreshToken: string | null;
      /** @enum {string} */
      tokenType: 'Bearer';
      user: components['schemas']['SignedInUserDto'];
    };
    RefreshDto: {
      refreshToken?: string;
      /**
       * @default body
       * @enum {string}
       */
      refreshTokenIn?: 'body' | 'cookie';
    };
    RefusedClaimDto: {
      claim: string;
      reason: string;
    };
    RefusedTrafficDto: {
      ports: number[];
      /** @enum {string} */
      protocol: 'tcp' | 'udp' | 'icmp' | 'all';
      reason: string;
    };
    RegisterDto: {
      /** Format: email */
      email: string;
      name?: string;
      organizationName: string;
      /** Format: password */
      password: string;
      /**
       * @default body
       * @enum {string}
       */
      refreshTokenIn?: 'body' | 'cookie';
    };
    ReleasedAgentDto: {
      name: string;
      /** Format: date-time */
      releasedUntil: string;
    };
    /** @enum {string} */
    RemovalCause:
      | 'SESSION_STOPPED'
      | 'SESSION_STOPPED_BY_ADMIN'
      | 'SESSION_EXPIRED'
      | 'LEASE_LOST'
      | 'USER_OFFBOARDED'
      | 'ROLE_LOST'
      | 'REFUSED_BY_ISSUER'
      | 'NOT_SIGNED_IN_AGAIN'
      | 'LOCKED_DOWN'
      | 'STATIC_RULE_DELETED'
      | 'STATIC_RULE_CHANGED'
      | 'RESOURCE_MOVED'
      | 'RESOURCE_DELETED'
      | 'CONFIG_CHANGED'
      | 'ABANDONED'
      | 'ADD_REFUSED'
      | 'WRITER_RELEASED'
      | 'STALE_RULE'
      | 'ORPHAN'
      | 'MAKE_ROOM'
      | 'TARGET_GONE'
      | 'CHANGED_OUTSIDE'
      | 'UNRECORDED';
    RenewedSessionDto: {
      /** Format: uuid */
      accessRequestId: string | null;
      approvers: string[];
      breakGlass: boolean;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      endedAt: string | null;
      endedCause: components['schemas']['RemovalCause'] | null;
      /** @enum {string|null} */
      endedReason: 'EXPIRED' | 'MANUAL' | 'ADMIN' | null;
      /** Format: date-time */
      expiresAt: string;
      holder: string | null;
      /** Format: uuid */
      id: string;
      ipv4Address: string | null;
      ipv6Address: string | null;
      /** Format: date-time */
      leaseUntil: string | null;
      reason: string | null;
      renewedFrom: string | null;
      resourceIps: components['schemas']['ResourceIpDto'][];
      skippedIps?: components['schemas']['SkippedIpDto'][];
      /** Format: date-time */
      startedAt: string;
      status: components['schemas']['SessionStatus'];
      ticket: string | null;
      /** Format: email */
      userEmail: string;
      /** Format: uuid */
      userId: string;
      userName: string;
    };
    RequestedResourceDto: {
      /** Format: uuid */
      id: string;
      name: string;
    };
    ResetPasswordDto: {
      /** Format: password */
      newPassword: string;
      /**
       * @default body
       * @enum {string}
       */
      refreshTokenIn?: 'body' | 'cookie';
      token: string;
    };
    ResourceConfigDto: {
      hostname?: string;
      /** @default 600 */
      maxSilenceSeconds?: number | null;
      pathPrefix?: string;
      port?: number;
      ports?: number[];
      /** @default 1000 */
      priority?: number;
      /** @default 1000 */
      priorityFrom?: number;
      /** @default 3999 */
      priorityTo?: number;
      /**
       * @default tcp
       * @enum {string}
       */
      protocol?: 'tcp' | 'udp' | 'icmp' | 'all';
      targetServiceAccounts?: string[];
      targetTags?: string[];
    };
    ResourceDto: {
      approvalsNeeded?: number;
      config: components['schemas']['ResourceConfigDto'];
      /** Format: date-time */
      createdAt: string;
      /** Format: uuid */
      credentialId: string;
      credentialName: string;
      endpoint: string | null;
      /** Format: uuid */
      id: string;
      isActive: boolean;
      labels: {
        [key: string]: string;
      };
      /** Format: date-time */
      lastVerifiedAt: string | null;
      maxSessionDurationHours?: number;
      mayBreakGlass?: boolean;
      name: string;
      needsReason?: boolean;
      /** @enum {string} */
      provider: 'AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT';
      region?: string;
      resourceIdentifier: string;
      resourceType: string;
      /** Format: date-time */
      updatedAt: string;
      verificationError: string | null;
    };
    ResourceGuardDto: {
      agent: string;
      guarded: components['schemas']['TrafficDto'][];
      leftAlone: components['schemas']['TrafficDto'][];
      notGuarded: components['schemas']['TrafficDto'][];
      refused: components['schemas']['RefusedTrafficDto'][];
      /** Format: date-time */
      reportedAt: string | null;
      waiting: components['schemas']['TrafficDto'][];
      wouldCut: components['schemas']['HostConnectionDto'][];
    };
    ResourceIpDto: {
      /** Format: date-time */
      appliedAt: string | null;
      endpoint: string | null;
      errorMessage: string | null;
      /** Format: uuid */
      id: string;
      ipAddress: string;
      /** @enum {number} */
      ipVersion: 4 | 6;
      providerRuleId: string | null;
      /** Format: date-time */
      removedAt: string | null;
      /** Format: uuid */
      resourceId: string;
      resourceName: string;
      /** @enum {string} */
      status: 'PENDING' | 'APPLIED' | 'FAILED' | 'REMOVING' | 'REMOVED';
      stillAllowedBy: string | null;
      warnings: string[];
    };
    ResourceRightDto: {
      approvalsNeeded: number;
      isActive: boolean;
      labels: {
        [key: string]: string;
      };
      maxSessionDurationHours: number;
      mayBreakGlass: boolean;
      name: string;
      needsReason: boolean;
      openNow: boolean;
      /** @enum {string} */
      provider: 'AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT';
      /** Format: uuid */
      resourceId: string;
      roles: components['schemas']['GivingRoleDto'][];
    };
    ResourceRuleDto: {
      address: string;
      holders: components['schemas']['ResourceRuleHolderDto'][];
      isHeldByOthers: boolean;
      isOverdue: boolean;
      isSuspended: boolean;
      isUnmanaged: boolean;
      isWanted: boolean;
      lastError: string | null;
      /** Format: date-time */
      lastObservedAt: string | null;
      /** Format: date-time */
      nextAttemptAt: string | null;
      ports: string;
      /** @enum {string} */
      presence: 'PRESENT' | 'ABSENT' | 'UNKNOWN';
      /** Format: date-time */
      presentSince: string | null;
      protocol: string;
      providerRuleId: string | null;
      removalCause: components['schemas']['RemovalCause'] | null;
      /** Format: date-time */
      unwantedSince: string | null;
    };
    ResourceRuleHolderDto: {
      cause: components['schemas']['AdditionCause'] | null;
      /** Format: uuid */
      id: string;
      /** @enum {string} */
      kind: 'SESSION' | 'STATIC_RULE';
      label: string | null;
      /** Format: date-time */
      releasedAt: string | null;
      /** Format: uuid */
      resourceId: string;
      resourceName: string;
      /** Format: date-time */
      until: string | null;
      userEmail: string | null;
      /** Format: uuid */
      userId: string | null;
      userName: string | null;
    };
    ResourceTypeDto: {
      config: components['schemas']['ConfigFieldDto'][];
      identifier: components['schemas']['IdentifierFormDto'];
      label: string;
      /** @enum {string} */
      portsPerRule: 'one' | 'many' | 'none';
      resourceType: string;
    };
    ResourceWithWarningsDto: {
      approvalsNeeded?: number;
      config: components['schemas']['ResourceConfigDto'];
      /** Format: date-time */
      createdAt: string;
      /** Format: uuid */
      credentialId: string;
      credentialName: string;
      endpoint: string | null;
      /** Format: uuid */
      id: string;
      isActive: boolean;
      labels: {
        [key: string]: string;
      };
      /** Format: date-time */
      lastVerifiedAt: string | null;
      maxSessionDurationHours?: number;
      mayBreakGlass?: boolean;
      name: string;
      needsReason?: boolean;
      /** @enum {string} */
      provider: 'AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT';
      region?: string;
      resourceIdentifier: string;
      resourceType: string;
      /** Format: date-time */
      updatedAt: string;
      verificationError: string | null;
      warnings: string[];
    };
    RevocationDto: {
      /** @enum {string} */
      cutsConnections: 'yes' | 'no' | 'depends';
      words: string;
    };
    RoleDto: {
      approvals: number;
      approverRoleIds: string[];
      /** Format: date-time */
      createdAt: string;
      description: string | null;
      /** Format: uuid */
      id: string;
      ipv6PrefixLength: number;
      maxSessionDurationHours: number;
      mayBreakGlass: boolean;
      name: string;
      reasonPattern: string | null;
      requireReason: boolean;
      resourceCount: number;
      resourceIds: string[];
      resourceSelector: {
        [key: string]: string[];
      } | null;
      /** Format: date-time */
      updatedAt: string;
      userCount: number;
      userIds: string[];
    };
    RoleMembersDto: {
      addResourceIds?: string[];
      addUserIds?: string[];
      removeResourceIds?: string[];
      removeUserIds?: string[];
    };
    /** @enum {string} */
    RuleCause:
      | 'SESSION_STARTED'
      | 'STATIC_RULE_CREATED'
      | 'LOCKDOWN_LIFTED'
      | 'RESOURCE_MOVED'
      | 'CONFIG_CHANGED'
      | 'DRIFT_REPAIRED'
      | 'WRITER_RELEASED'
      | 'SESSION_STOPPED'
      | 'SESSION_STOPPED_BY_ADMIN'
      | 'SESSION_EXPIRED'
      | 'LEASE_LOST'
      | 'USER_OFFBOARDED'
      | 'ROLE_LOST'
      | 'REFUSED_BY_ISSUER'
      | 'NOT_SIGNED_IN_AGAIN'
      | 'LOCKED_DOWN'
      | 'STATIC_RULE_DELETED'
      | 'STATIC_RULE_CHANGED'
      | 'RESOURCE_DELETED'
      | 'ABANDONED'
      | 'ADD_REFUSED'
      | 'STALE_RULE'
      | 'ORPHAN'
      | 'MAKE_ROOM'
      | 'TARGET_GONE'
      | 'CHANGED_OUTSIDE'
      | 'UNRECORDED';
    RuleEventDto: {
      address: string;
      /** Format: date-time */
      at: string;
      cause: components['schemas']['RuleCause'] | null;
      /** Format: uuid */
      credentialId: string | null;
      /** Format: date-time */
      firstObservedAfter: string | null;
      holderKind: components['schemas']['HolderKind'];
      /** Format: uuid */
      id: string;
      kind: components['schemas']['RuleEventKind'];
      /** Format: date-time */
      lastObservedBefore: string | null;
      message: string | null;
      /** Format: uuid */
      passId: string | null;
      ports: string;
      protocol: string;
      providerRuleId: string | null;
      /** Format: uuid */
      resourceId: string | null;
      resourceName: string | null;
      /** Format: uuid */
      sessionId: string | null;
      /** Format: uuid */
      staticIpRuleId: string | null;
      target: components['schemas']['RuleTargetDto'];
      userEmail: string | null;
      workerId: string | null;
    };
    /** @enum {string} */
    RuleEventKind:
      | 'OPENED'
      | 'CLOSED'
      | 'HELD'
      | 'RELEASED'
      | 'MISSING'
      | 'RESTORED'
      | 'ADD_REFUSED'
      | 'REMOVAL_REFUSED'
      | 'FOUND'
      | 'UNMARKED'
      | 'CHANGED'
      | 'ABANDONED';
    RuleHolderDto: {
      label: string | null;
      /** Format: uuid */
      sessionId: string | null;
      user: string | null;
    };
    RuleTargetDto: {
      identifier: string;
      /** @enum {string} */
      provider: 'AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT';
      resourceType: string | null;
    };
    /** @enum {string} */
    Scope: 'sessions:read' | 'sessions:write' | 'resources:read' | 'audit:read' | 'agent:connect';
    ScopeErrorDto: {
      error: string;
      message: string;
    };
    SessionDto: {
      /** Format: uuid */
      accessRequestId: string | null;
      approvers: string[];
      breakGlass: boolean;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      endedAt: string | null;
      endedCause: components['schemas']['RemovalCause'] | null;
      /** @enum {string|null} */
      endedReason: 'EXPIRED' | 'MANUAL' | 'ADMIN' | null;
      /** Format: date-time */
      expiresAt: string;
      holder: string | null;
      /** Format: uuid */
      id: string;
      ipv4Address: string | null;
      ipv6Address: string | null;
      /** Format: date-time */
      leaseUntil: string | null;
      reason: string | null;
      resourceIps: components['schemas']['ResourceIpDto'][];
      skippedIps?: components['schemas']['SkippedIpDto'][];
      /** Format: date-time */
      startedAt: string;
      status: components['schemas']['SessionStatus'];
      ticket: string | null;
      /** Format: email */
      userEmail: string;
      /** Format: uuid */
      userId: string;
      userName: string;
    };
    SessionPlanDto: {
      approvalsNeeded: number;
      /** Format: date-time */
      asOf: string;
      closes: components['schemas']['ClosedRuleDto'][];
      deciders: string[];
      /** @enum {boolean} */
      dryRun: true;
      durationHours: number | null;
      /** Format: date-time */
      expiresAt: string | null;
      ipv4Address: string | null;
      ipv6Address: string | null;
      maxDurationHours: number | null;
      reasonNeeded: boolean;
      refusal: components['schemas']['PlanRefusalDto'] | null;
      resources: components['schemas']['PlannedResourceDto'][];
      /** Format: uuid */
      usesAccessRequestId: string | null;
    };
    /** @enum {string} */
    SessionStatus: 'PENDING' | 'ACTIVE' | 'PARTIAL' | 'FAILED' | 'EXPIRING' | 'EXPIRED' | 'CANCELLED';
    SetPasswordDto: {
      inviteToken: string;
      name?: string;
      /** Format: password */
      password: string;
      /**
       * @default body
       * @enum {string}
       */
      refreshTokenIn?: 'body' | 'cookie';
    };
    SignedInUserDto: {
      email: string;
      /** Format: uuid */
      id: string;
      isOrgAdmin: boolean;
      mfaEnabled: boolean;
      name: string;
      /** Format: uuid */
      organizationId: string;
      organizationName: string;
      organizationSlug: string;
      /** @enum {string} */
      subscriptionTier: 'FREE' | 'PAID';
    };
    SignInDto: {
      /** Format: date-time */
      createdAt: string;
      current: boolean;
      /** Format: date-time */
      expiresAt: string;
      /** Format: uuid */
      id: string;
      ipAddress: string | null;
      /** Format: date-time */
      lastUsedAt: string;
      userAgent: string | null;
    };
    SkippedIpDto: {
      ipAddress: string;
      /** @enum {number} */
      ipVersion: 4 | 6;
      reason: string;
      /** Format: uuid */
      resourceId: string;
      resourceName: string;
    };
    StartedSessionDto: {
      /** Format: uuid */
      accessRequestId: string | null;
      approvers: string[];
      breakGlass: boolean;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      endedAt: string | null;
      endedCause: components['schemas']['RemovalCause'] | null;
      /** @enum {string|null} */
      endedReason: 'EXPIRED' | 'MANUAL' | 'ADMIN' | null;
      /** Format: date-time */
      expiresAt: string;
      holder: string | null;
      /** Format: uuid */
      id: string;
      ipv4Address: string | null;
      ipv6Address: string | null;
      /** Format: date-time */
      leaseUntil: string | null;
      reason: string | null;
      resourceIps: components['schemas']['ResourceIpDto'][];
      sessionToken?: string;
      skippedIps?: components['schemas']['SkippedIpDto'][];
      /** Format: date-time */
      startedAt: string;
      status: components['schemas']['SessionStatus'];
      ticket: string | null;
      /** Format: email */
      userEmail: string;
      /** Format: uuid */
      userId: string;
      userName: string;
    };
    StartSessionDto: {
      /** Format: uuid */
      accessRequestId?: string;
      breakGlass?: boolean;
      durationHours?: number;
      holder?: string;
      ipv4Address?: string;
      ipv6Address?: string;
      leaseSeconds?: number;
      reason?: string;
      /** Format: uuid */
      replaces?: string;
      resourceIds?: string[];
      resourceNames?: string[];
      ticket?: string;
    };
    StaticIpRuleDto: {
      /** Format: date-time */
      createdAt: string;
      createdByEmail: string;
      /** Format: uuid */
      id: string;
      ipAddress: string;
      label: string;
      resources: components['schemas']['StaticIpRuleEntryDto'][];
      /** @enum {string} */
      status: 'PENDING' | 'ACTIVE' | 'PARTIAL' | 'FAILED' | 'CLOSED';
    };
    StaticIpRuleEntryDto: {
      /** Format: date-time */
      appliedAt: string | null;
      errorMessage: string | null;
      /** Format: uuid */
      resourceId: string;
      resourceName: string;
      /** @enum {string} */
      status: 'PENDING' | 'APPLIED' | 'FAILED';
    };
    SteppedUpDto: {
      /** Format: date-time */
      provenUntil: string;
    };
    StoredGroupMappingDto: {
      group: string;
      isOrgAdmin: boolean;
      /** Format: uuid */
      roleId: string | null;
    };
    SubscribeAnswerDto: {
      /** Format: uri */
      redirectUrl: string;
      subscription: components['schemas']['SubscriptionDto'];
      success: boolean;
    };
    SubscribeDto: {
      /** Format: uuid */
      planId: string;
    };
    SubscriptionAnswerDto: {
      subscription: components['schemas']['SubscriptionDto'];
    };
    SubscriptionDto: {
      cancelAtPeriodEnd: boolean;
      currency: string;
      /** Format: date-time */
      currentPeriodEnd: string | null;
      /** Format: date-time */
      currentPeriodStart: string | null;
      /** Format: date-time */
      gracePeriodEnd: string | null;
      planDisplayName: string;
      planName: string;
      priceCents: number;
      status: components['schemas']['SubscriptionStatus'];
      tier: components['schemas']['Tier'];
    };
    /** @enum {string} */
    SubscriptionStatus: 'PENDING' | 'ACTIVE' | 'PAST_DUE' | 'CANCELLED' | 'EXPIRED';
    TextFormDto: {
      example: string;
      flags: string;
      pattern: string;
      words: string;
    };
    /** @enum {string} */
    Tier: 'FREE' | 'PAID';
    TokenCheckDto: {
      claim: string;
      found: string | null;
      ok: boolean;
      wanted: string;
    };
    TrafficDto: {
      ports: number[];
      /** @enum {string} */
      protocol: 'tcp' | 'udp' | 'icmp' | 'all';
    };
    UpdateCredentialDto: {
      credentialData?: {
        [key: string]: string;
      };
      name?: string;
    };
    UpdateIdentityProviderDto: {
      clientId?: string;
      clientSecret?: string;
      createUsers?: boolean;
      emailDomains?: string[];
      /** @default true */
      enabled?: boolean;
      groupMappings?: components['schemas']['GroupMappingDto'][];
      groupPattern?: string | null;
      groupsClaim?: string | null;
      issuer?: string;
      name?: string;
      /** @enum {string} */
      patternMemberships?: 'KEEP' | 'REMOVE';
      trustsSecondFactor?: boolean;
    };
    UpdateNoticesDto: {
      agentAway?: boolean;
      keyExpiring?: boolean;
      resourceHealth?: boolean;
      sessionExpiring?: boolean;
      sessionStopped?: boolean;
      trustRefused?: boolean;
    };
    UpdateOidcTrustDto: {
      conditions?: {
        [key: string]: string[];
      };
      isEnabled?: boolean;
      name?: string;
      scopes?: components['schemas']['WorkloadScope'][];
    };
    UpdateOrganizationDto: {
      name?: string;
      /** Format: uuid */
      recoveryAdministratorId?: string | null;
      ssoRequired?: boolean;
    };
    UpdateOrganizationSettingsDto: {
      mfaRequired?: boolean;
      passwordExpirationDays?: number | null;
      passwordMinLength?: number;
      passwordRequireDigit?: boolean;
      passwordRequireLowercase?: boolean;
      passwordRequireSpecialChar?: boolean;
      passwordRequireUppercase?: boolean;
      requireDetectedAddress?: boolean;
      reSignInGraceHours?: number;
    };
    UpdateResourceDto: {
      config?: components['schemas']['ResourceConfigDto'];
      /** Format: uuid */
      credentialId?: string;
      endpoint?: string | null;
      isActive?: boolean;
      labels?: {
        [key: string]: string;
      };
      name?: string;
      /** @enum {string} */
      provider?: 'AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT';
      region?: string;
      /** @default false */
      releasePorts?: boolean;
      resourceIdentifier?: string;
      resourceType?: string;
    };
    UpdateRoleDto: {
      /** @default 0 */
      approvals?: number;
      approverRoleIds?: string[];
      description?: string | null;
      /** @default 128 */
      ipv6PrefixLength?: number;
      maxSessionDurationHours?: number | null;
      /** @default false */
      mayBreakGlass?: boolean;
      name?: string;
      reasonPattern?: string | null;
      /** @default false */
      requireReason?: boolean;
      resourceIds?: string[];
      resourceSelector?: {
        [key: string]: string[];
      } | null;
      userIds?: string[];
    };
    UpdateStaticIpRuleDto: {
      label?: string;
      resourceIds?: string[];
    };
    UpdateUserDto: {
      isActive?: boolean;
      isOrgAdmin?: boolean;
      name?: string;
    };
    UpdateWebhookDto: {
      eventTypes?: components['schemas']['AuditEventType'][];
      isEnabled?: boolean;
      url?: string;
    };
    UserDto: {
      /** Format: date-time */
      createdAt: string;
      /** Format: email */
      email: string;
      /** Format: uuid */
      id: string;
      identityProviders: string[];
      /** Format: date-time */
      invitedAt: string | null;
      isActive: boolean;
      isOrgAdmin: boolean;
      isService: boolean;
      /** Format: date-time */
      lastLoginAt: string | null;
      lockdown: components['schemas']['LockdownDto'] | null;
      mfaEnabled: boolean;
      name: string;
      /** @enum {string} */
      platformRole: 'CUSTOMER' | 'SUPPORT' | 'SUPER_ADMIN';
      roleNames: string[];
      status: components['schemas']['UserStatus'];
      /** Format: date-time */
      updatedAt: string;
    };
    UserIdentityDto: {
      email: string | null;
      /** Format: uuid */
      id: string;
      /** Format: date-time */
      lastSeenAt: string;
      subject: string;
      /** Format: email */
      userEmail: string | null;
      /** Format: uuid */
      userId: string | null;
    };
    /** @enum {string} */
    UserStatus: 'INVITED' | 'ACTIVE' | 'INACTIVE' | 'LOCKED';
    VerifyMfaDto: {
      code: string;
      deviceToken?: string | null;
      mfaChallengeToken: string;
      /**
       * @default body
       * @enum {string}
       */
      refreshTokenIn?: 'body' | 'cookie';
    };
    WebhookDeliveryDto: {
      attempts: number;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      dueAt: string | null;
      error: string | null;
      eventType: components['schemas']['AuditEventType'];
      /** Format: uuid */
      id: string;
      /** Format: uuid */
      recordId: string;
      responseCode: number | null;
      /** Format: date-time */
      sentAt: string;
      status: components['schemas']['WebhookDeliveryStatus'];
    };
    /** @enum {string} */
    WebhookDeliveryStatus: 'PENDING' | 'REDELIVERING' | 'DELIVERED' | 'FAILED';
    WebhookDto: {
      /** Format: date-time */
      createdAt: string;
      /** Format: email */
      createdByEmail: string;
      eventTypes: components['schemas']['AuditEventType'][];
      /** Format: date-time */
      failingSince: string | null;
      format: components['schemas']['WebhookFormat'];
      /** Format: uuid */
      id: string;
      isEnabled: boolean;
      lastError: string | null;
      /** Format: date-time */
      updatedAt: string;
      url: string;
    };
    /** @enum {string} */
    WebhookFormat: 'standard' | 'slack' | 'teams';
    /** @enum {string} */
    WorkloadScope: 'sessions:read' | 'sessions:write' | 'resources:read';
    WorkloadTokenDto: {
      accessToken: string;
      expiresIn: number;
      scopes: components['schemas']['WorkloadScope'][];
      tokenType: string;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  Discovery_discover: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DiscoveryDto'];
        };
      };
    };
  };
  AccessRequests_list: {
    parameters: {
      query?: {
        from?: string;
        page?: number;
        resourceId?: string;
        size?: number;
        status?: components['schemas']['AccessRequestStatus'][];
        to?: string;
        userId?: string;
        view?: components['schemas']['AccessRequestView'];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccessRequestDto'][];
        };
      };
    };
  };
  AccessRequests_create: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateAccessRequestDto'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccessRequestDto'];
        };
      };
    };
  };
  AccessRequests_find: {
    parameters: {
      query?: {
        waitSeconds?: number;
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccessRequestDto'];
        };
      };
    };
  };
  AccessRequests_approve: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['DecideDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccessRequestDto'];
        };
      };
    };
  };
  AccessRequests_cancel: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccessRequestDto'];
        };
      };
    };
  };
  AccessRequests_deny: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['DecideDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccessRequestDto'];
        };
      };
    };
  };
  AccessRequests_review: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['DecideDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccessRequestDto'];
        };
      };
    };
  };
  Agents_list: {
    parameters: {
      query?: {
        page?: number;
        search?: string;
        size?: number;
        sort?: 'name' | '-name' | 'createdAt' | '-createdAt';
        state?: ('CONNECTED' | 'AWAY' | 'CONTESTED')[];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AgentDto'][];
        };
      };
    };
  };
  Agents_release: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ReleasedAgentDto'];
        };
      };
    };
  };
  Agents_report: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['AgentReportDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AgentVersionDto'];
        };
      };
    };
  };
  Agents_state: {
    parameters: {
      query: {
        agent: string;
        dryRun?: boolean;
        instance?: string;
        version?: string;
        waitSeconds?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AgentStateDto'];
        };
      };
    };
  };
  ApiKeys_list: {
    parameters: {
      query?: {
        page?: number;
        scope?: ('sessions:read' | 'sessions:write' | 'resources:read' | 'audit:read' | 'agent:connect')[];
        search?: string;
        size?: number;
        sort?:
          | 'name'
          | '-name'
          | 'createdAt'
          | '-createdAt'
          | 'lastUsedAt'
          | '-lastUsedAt'
          | 'expiresAt'
          | '-expiresAt';
        state?: ('VALID' | 'ENDING' | 'EXPIRED' | 'REVOKED')[];
        userId?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ApiKeyDto'][];
        };
      };
    };
  };
  ApiKeys_create: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateApiKeyDto'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedApiKeyDto'];
        };
      };
    };
  };
  ApiKeys_revoke: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  AuditLogs_list: {
    parameters: {
      query?: {
        actorEmail?: string;
        actorType?: ('USER' | 'API_KEY' | 'SYSTEM' | 'AGENT' | 'SESSION')[];
        eventType?: components['schemas']['AuditEventType'][];
        from?: string;
        ipAddress?: string;
        page?: number;
        resourceId?: string;
        result?: 'SUCCESS' | 'FAILURE';
        size?: number;
        to?: string;
        userId?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AuditPageDto'];
        };
      };
    };
  };
  AuditLogs_export: {
    parameters: {
      query?: {
        after?: number;
        format?: 'jsonl' | 'csv';
        from?: string;
        to?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/x-ndjson': string;
          'text/csv': string;
        };
      };
    };
  };
  Passwords_changeExpired: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ChangeExpiredPasswordDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LoginAnswerDto'];
        };
      };
    };
  };
  Passwords_change: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ChangePasswordDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['EmptyDto'];
        };
      };
    };
  };
  Passwords_forgot: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ForgotPasswordDto'];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  Auth_login: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['LoginDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LoginAnswerDto'];
        };
      };
    };
  };
  Auth_logout: {
    parameters: {
      query?: never;
      header?: {
        'X-Drawbridge-Console'?: '1';
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['LogoutDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['EmptyDto'];
        };
      };
    };
  };
  Auth_me: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MeDto'];
        };
      };
    };
  };
  OidcExchange_exchange: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ExchangeIdTokenDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WorkloadTokenDto'];
        };
      };
    };
  };
  Passwords_link: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['PasswordLinkRequestDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PasswordLinkUseDto'];
        };
      };
    };
  };
  Auth_refresh: {
    parameters: {
      query?: never;
      header?: {
        'X-Drawbridge-Console'?: '1';
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['RefreshDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RefreshAnswerDto'];
        };
      };
    };
  };
  Auth_register: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['RegisterDto'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LoginAnswerDto'];
        };
      };
    };
  };
  Passwords_reset: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ResetPasswordDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LoginAnswerDto'];
        };
      };
    };
  };
  Passwords_accept: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SetPasswordDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LoginAnswerDto'];
        };
      };
    };
  };
  SignIns_list: {
    parameters: {
      query?: {
        page?: number;
        size?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SignInDto'][];
        };
      };
    };
  };
  SignIns_end: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  SsoSignIn_start: {
    parameters: {
      query: {
        challenge: string;
        provider?: string;
        returnTo: string;
      };
      header?: never;
      path: {
        slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  SsoSignIn_callback: {
    parameters: {
      query?: {
        code?: string;
        error?: string;
        iss?: string;
        state?: string;
      };
      header?: never;
      path: {
        slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: never;
  };
  SsoSignIn_providers: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OfferedProvidersDto'];
        };
      };
    };
  };
  SsoSignIn_complete: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CompleteSsoDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LoginAnswerDto'];
        };
      };
    };
  };
  StepUp_stepUp: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MfaCodeDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SteppedUpDto'];
        };
      };
    };
  };
  Auth_verifyMfa: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['VerifyMfaDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LoginAnswerDto'];
        };
      };
    };
  };
  Billing_cancel: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SubscriptionAnswerDto'];
        };
      };
    };
  };
  Billing_payments: {
    parameters: {
      query?: {
        page?: number;
        size?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PaymentDto'][];
        };
      };
    };
  };
  Billing_plans: {
    parameters: {
      query?: {
        page?: number;
        size?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PlanDto'][];
        };
      };
    };
  };
  Billing_subscribe: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SubscribeDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SubscribeAnswerDto'];
        };
      };
    };
  };
  Billing_subscription: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SubscriptionAnswerDto'];
        };
      };
    };
  };
  PaymentWebhook_receive: {
    parameters: {
      query?: never;
      header?: {
        'Stripe-Signature'?: string;
      };
      path: {
        adapter: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': Record<string, never>;
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ReceivedDto'];
        };
      };
    };
  };
  Credentials_list: {
    parameters: {
      query?: {
        credentialType?: (
          | 'ACCESS_KEY'
          | 'ASSUME_ROLE'
          | 'WEB_IDENTITY'
          | 'SERVICE_ACCOUNT'
          | 'FEDERATION'
          | 'SERVICE_PRINCIPAL'
          | 'FEDERATED'
          | 'ADMIN_KEY'
          | 'TOKEN'
          | 'AGENT'
        )[];
        page?: number;
        provider?: ('AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT')[];
        search?: string;
        size?: number;
        sort?: 'name' | '-name' | 'lastVerifiedAt' | '-lastVerifiedAt';
        state?: ('VALID' | 'INVALID' | 'UNCHECKED')[];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CredentialDto'][];
        };
      };
    };
  };
  Credentials_create: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateCredentialDto'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CredentialDto'];
        };
      };
    };
  };
  Credentials_find: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CredentialDto'];
        };
      };
    };
  };
  Credentials_remove: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  Credentials_update: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['UpdateCredentialDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CredentialDto'];
        };
      };
    };
  };
  Credentials_verify: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CredentialDto'];
        };
      };
    };
  };
  Health_detect: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DetectedAddressDto'];
        };
      };
    };
  };
  Health_health: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['HealthDto'];
        };
      };
    };
  };
  Health_ready: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ReadinessDto'];
        };
      };
    };
  };
  IdentityProviders_list: {
    parameters: {
      query?: {
        page?: number;
        search?: string;
        size?: number;
        sort?: 'name' | '-name' | 'createdAt' | '-createdAt';
        state?: ('ENABLED' | 'DISABLED' | 'FAILING')[];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['IdentityProviderDto'][];
        };
      };
    };
  };
  IdentityProviders_create: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateIdentityProviderDto'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['IdentityProviderDto'];
        };
      };
    };
  };
  IdentityProviders_find: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['IdentityProviderDto'];
        };
      };
    };
  };
  IdentityProviders_delete: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  IdentityProviders_update: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['UpdateIdentityProviderDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['IdentityProviderDto'];
        };
      };
    };
  };
  IdentityProviders_listIdentities: {
    parameters: {
      query?: {
        page?: number;
        size?: number;
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['UserIdentityDto'][];
        };
      };
    };
  };
  IdentityProviders_link: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
        identityId: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['LinkIdentityDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['UserIdentityDto'];
        };
      };
    };
  };
  IdentityProviders_unlink: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
        identityId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  IdentityProviders_test: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['IdentityProviderTestDto'];
        };
      };
    };
  };
  Mfa_disable: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MfaCodeDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['EmptyDto'];
        };
      };
    };
  };
  Mfa_regenerate: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MfaCodeDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RecoveryCodesDto'];
        };
      };
    };
  };
  Mfa_setUp: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MfaSetupDto'];
        };
      };
    };
  };
  Mfa_confirm: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MfaCodeDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RecoveryCodesDto'];
        };
      };
    };
  };
  OidcTrusts_list: {
    parameters: {
      query?: {
        page?: number;
        search?: string;
        size?: number;
        sort?: 'name' | '-name' | 'createdAt' | '-createdAt';
        state?: ('ENABLED' | 'DISABLED')[];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OidcTrustDto'][];
        };
      };
    };
  };
  OidcTrusts_create: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateOidcTrustDto'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OidcTrustDto'];
        };
      };
    };
  };
  OidcTrusts_find: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OidcTrustDto'];
        };
      };
    };
  };
  OidcTrusts_delete: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  OidcTrusts_update: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['UpdateOidcTrustDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OidcTrustDto'];
        };
      };
    };
  };
  OidcTrusts_explain: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['IdTokenDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TokenCheckDto'][];
        };
      };
    };
  };
  OidcTrusts_presets: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OidcPresetDto'][];
        };
      };
    };
  };
  Organization_find: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OrganizationDto'];
        };
      };
    };
  };
  Organization_update: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['UpdateOrganizationDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OrganizationDto'];
        };
      };
    };
  };
  OrganizationBilling_find: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BillingDetailsDto'];
        };
      };
    };
  };
  OrganizationBilling_change: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['ChangeBillingDetailsDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BillingDetailsDto'];
        };
      };
    };
  };
  Organization_delete: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['DeleteOrganizationDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['EmptyDto'];
        };
      };
    };
  };
  OrganizationLockdown_declare: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['LockDownOrganizationDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['EndedByLockdownDto'];
        };
      };
    };
  };
  OrganizationLockdown_lift: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  Organization_settings: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OrganizationSettingsDto'];
        };
      };
    };
  };
  Organization_updateSettings: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['UpdateOrganizationSettingsDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OrganizationSettingsDto'];
        };
      };
    };
  };
  Platform_list: {
    parameters: {
      query?: {
        page?: number;
        search?: string;
        size?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PlatformOrganizationDto'][];
        };
      };
    };
  };
  Platform_find: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PlatformOrganizationDto'];
        };
      };
    };
  };
  Platform_delete: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ReasonDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PlatformOrganizationDto'];
        };
      };
    };
  };
  Platform_reactivate: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PlatformOrganizationDto'];
        };
      };
    };
  };
  Platform_suspend: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ReasonDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PlatformOrganizationDto'];
        };
      };
    };
  };
  Platform_overdueRules: {
    parameters: {
      query?: {
        page?: number;
        size?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OverdueRuleDto'][];
        };
      };
    };
  };
  Reports_access: {
    parameters: {
      query?: {
        address?: string;
        at?: string;
        format?: 'json' | 'csv';
        from?: string;
        resourceId?: string;
        to?: string;
        userId?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccessItemDto'][];
          'text/csv': string;
        };
      };
    };
  };
  ResourceHealth_list: {
    parameters: {
      query?: {
        eventType?: ('VERIFY_OK' | 'VERIFY_FAILED' | 'RECONCILE_OK' | 'RECONCILE_FAILED')[];
        page?: number;
        resourceId?: string;
        size?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['HealthEventPageDto'];
        };
      };
    };
  };
  Resources_list: {
    parameters: {
      query?: {
        assigned?: boolean;
        credentialId?: string;
        label?: string[];
        page?: number;
        provider?: ('AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'AGENT')[];
        resourceType?: (
          | 'SECURITY_GROUP'
          | 'PREFIX_LIST'
          | 'FIREWALL'
          | 'NETWORK_SECURITY_GROUP'
          | 'ROUTE'
          | 'SERVICE'
          | 'CONSUMER_GROUP'
          | 'PLUGIN_CONFIG'
          | 'GLOBAL_RULE'
          | 'FIREWALL_RULE'
          | 'HOST_FIREWALL'
        )[];
        roleId?: string;
        search?: string;
        size?: number;
        sort?:
          | 'name'
          | '-name'
          | 'createdAt'
          | '-createdAt'
          | 'lastVerifiedAt'
          | '-lastVerifiedAt'
          | 'state'
          | '-state';
        state?: ('VERIFIED' | 'REFUSED' | 'UNVERIFIED' | 'INACTIVE' | 'ABANDONED')[];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResourceDto'][];
        };
      };
    };
  };
  Resources_create: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateResourceDto'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResourceWithWarningsDto'];
        };
      };
    };
  };
  Resources_find: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResourceDto'];
        };
      };
    };
  };
  Resources_delete: {
    parameters: {
      query?: {
        releasePorts?: boolean;
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  Resources_update: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['UpdateResourceDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResourceWithWarningsDto'];
        };
      };
    };
  };
  Resources_abandon: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['AbandonResourceDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResourceDto'];
        };
      };
    };
  };
  Resources_confirmGuard: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResourceDto'];
        };
      };
    };
  };
  ResourceEvents_list: {
    parameters: {
      query?: {
        from?: string;
        page?: number;
        size?: number;
        to?: string;
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RuleEventDto'][];
        };
      };
    };
  };
  Resources_guard: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResourceGuardDto'];
        };
      };
    };
  };
  Rights_people: {
    parameters: {
      query?: {
        page?: number;
        search?: string;
        size?: number;
        sort?: 'name' | '-name' | 'email' | '-email';
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PersonRightDto'][];
        };
      };
    };
  };
  Resources_reconcile: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MessageDto'];
        };
      };
    };
  };
  Resources_rules: {
    parameters: {
      query?: {
        page?: number;
        size?: number;
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResourceRuleDto'][];
        };
      };
    };
  };
  Resources_verify: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResourceWithWarningsDto'];
        };
      };
    };
  };
  Resources_createMany: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['BulkCreateResourcesDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BulkResultsDto'];
        };
      };
    };
  };
  Resources_labelMany: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['BulkLabelsDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BulkResultsDto'];
        };
      };
    };
  };
  ResourceTypes_list: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ProviderTypesDto'][];
        };
      };
    };
  };
  Resources_verifyMany: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['BulkResourcesDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BulkResultsDto'];
        };
      };
    };
  };
  Roles_list: {
    parameters: {
      query?: {
        approvals?: ('0' | '1' | '2')[];
        page?: number;
        resourceId?: string;
        search?: string;
        size?: number;
        sort?:
          | 'name'
          | '-name'
          | 'createdAt'
          | '-createdAt'
          | 'userCount'
          | '-userCount'
          | 'resourceCount'
          | '-resourceCount';
        userId?: string;
        withMembers?: boolean;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RoleDto'][];
        };
      };
    };
  };
  Roles_create: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateRoleDto'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RoleDto'];
        };
      };
    };
  };
  Roles_find: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RoleDto'];
        };
      };
    };
  };
  Roles_delete: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  Roles_update: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['UpdateRoleDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RoleDto'];
        };
      };
    };
  };
  Roles_members: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['RoleMembersDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BulkResultsDto'];
        };
      };
    };
  };
  Roles_assignResource: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
        resourceId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MessageDto'];
        };
      };
    };
  };
  Roles_unassignResource: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
        resourceId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  Roles_assignUser: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
        userId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MessageDto'];
        };
      };
    };
  };
  Roles_unassignUser: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
        userId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  Sessions_list: {
    parameters: {
      query?: {
        active?: boolean;
        address?: string;
        breakGlass?: boolean;
        endedReason?: ('EXPIRED' | 'MANUAL' | 'ADMIN')[];
        from?: string;
        page?: number;
        resourceId?: string;
        size?: number;
        status?: components['schemas']['SessionStatus'][];
        to?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionDto'][];
        };
      };
    };
  };
  Sessions_start: {
    parameters: {
      query?: {
        waitSeconds?: number;
      };
      header?: {
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['StartSessionDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['StartedSessionDto'];
        };
      };
    };
  };
  Sessions_find: {
    parameters: {
      query?: {
        waitSeconds?: number;
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionDto'];
        };
      };
    };
  };
  SessionEvents_list: {
    parameters: {
      query?: {
        from?: string;
        page?: number;
        size?: number;
        to?: string;
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RuleEventDto'][];
        };
      };
    };
  };
  Sessions_extend: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ExtendSessionDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionDto'];
        };
      };
    };
  };
  Sessions_renew: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RenewedSessionDto'];
        };
      };
    };
  };
  Sessions_stop: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionDto'];
        };
      };
    };
  };
  Sessions_listAll: {
    parameters: {
      query?: {
        active?: boolean;
        address?: string;
        breakGlass?: boolean;
        endedReason?: ('EXPIRED' | 'MANUAL' | 'ADMIN')[];
        from?: string;
        page?: number;
        resourceId?: string;
        size?: number;
        status?: components['schemas']['SessionStatus'][];
        to?: string;
        userId?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionDto'][];
        };
      };
    };
  };
  Sessions_stopByAdmin: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionDto'];
        };
      };
    };
  };
  Sessions_bulk: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['BulkSessionsDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BulkResultsDto'];
        };
      };
    };
  };
  Sessions_plan: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['StartSessionDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SessionPlanDto'];
        };
      };
    };
  };
  StaticIpRules_list: {
    parameters: {
      query?: {
        contains?: string;
        page?: number;
        resourceId?: string;
        search?: string;
        size?: number;
        sort?: 'label' | '-label' | 'createdAt' | '-createdAt';
        status?: ('PENDING' | 'ACTIVE' | 'PARTIAL' | 'FAILED' | 'CLOSED')[];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['StaticIpRuleDto'][];
        };
      };
    };
  };
  StaticIpRules_create: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateStaticIpRuleDto'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['StaticIpRuleDto'];
        };
      };
    };
  };
  StaticIpRules_find: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['StaticIpRuleDto'];
        };
      };
    };
  };
  StaticIpRules_delete: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  StaticIpRules_update: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['UpdateStaticIpRuleDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['StaticIpRuleDto'];
        };
      };
    };
  };
  Users_list: {
    parameters: {
      query?: {
        isActive?: boolean;
        isOrgAdmin?: boolean;
        isService?: boolean;
        lockedDown?: boolean;
        mfaEnabled?: boolean;
        page?: number;
        roleId?: string;
        search?: string;
        size?: number;
        sort?:
          'name' | '-name' | 'email' | '-email' | 'createdAt' | '-createdAt' | 'lastLoginAt' | '-lastLoginAt';
        status?: components['schemas']['UserStatus'][];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['UserDto'][];
        };
      };
    };
  };
  Users_create: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['CreateUserDto'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedUserDto'];
        };
      };
    };
  };
  Users_find: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['UserDto'];
        };
      };
    };
  };
  Users_delete: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  Users_update: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['UpdateUserDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['UserDto'];
        };
      };
    };
  };
  UserLockdown_declare: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['LockDownUserDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['EndedByLockdownDto'];
        };
      };
    };
  };
  UserLockdown_lift: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  Users_passwordLink: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PasswordLinkDto'];
        };
      };
    };
  };
  Users_resendInvitation: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedUserDto'];
        };
      };
    };
  };
  Users_resetMfa: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MessageDto'];
        };
      };
    };
  };
  Rights_ofUser: {
    parameters: {
      query?: {
        page?: number;
        search?: string;
        size?: number;
        sort?: 'name' | '-name' | 'createdAt' | '-createdAt';
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResourceRightDto'][];
        };
      };
    };
  };
  Users_bulk: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['BulkUsersDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BulkResultsDto'];
        };
      };
    };
  };
  OwnNotices_find: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['NoticesDto'];
        };
      };
    };
  };
  OwnNotices_update: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['UpdateNoticesDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['NoticesDto'];
        };
      };
    };
  };
  Webhooks_list: {
    parameters: {
      query?: {
        page?: number;
        search?: string;
        size?: number;
        sort?: 'name' | '-name' | 'createdAt' | '-createdAt';
        state?: ('ENABLED' | 'DISABLED' | 'FAILING')[];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookDto'][];
        };
      };
    };
  };
  Webhooks_create: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateWebhookDto'];
      };
    };
    responses: {
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedWebhookDto'];
        };
      };
    };
  };
  Webhooks_find: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookDto'];
        };
      };
    };
  };
  Webhooks_delete: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  Webhooks_update: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['UpdateWebhookDto'];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookDto'];
        };
      };
    };
  };
  Webhooks_deliveries: {
    parameters: {
      query?: {
        page?: number;
        size?: number;
        status?: components['schemas']['DeliveryStatus'][];
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookDeliveryDto'][];
        };
      };
    };
  };
  Webhooks_redeliver: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        deliveryId: string;
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  Webhooks_rotate: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedWebhookDto'];
        };
      };
    };
  };
  Webhooks_test: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  Downloads_list: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DownloadDto'][];
        };
      };
    };
  };
  Downloads_download: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        file: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/vnd.debian.binary-package': string;
          'application/x-xz': string;
          'text/javascript': string;
          'text/plain': string;
        };
      };
    };
  };
  Issuer_configuration: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        organizationId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['IssuerConfigurationDto'];
        };
      };
    };
  };
  Issuer_keys: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        organizationId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PublicKeysDto'];
        };
      };
    };
  };
}
