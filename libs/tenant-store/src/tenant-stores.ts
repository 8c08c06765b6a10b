import { AccessRequestStore } from './requests/access-request.store';
import { AccountTokenStore } from './accounts/account-token.store';
import { AccountStore } from './accounts/account.store';
import { ApiKeyStore } from './accounts/api-key.store';
import { AttentionStore } from './notices/attention.store';
import { ReviewStore } from './roles/review.store';
import { AuditChainStore } from './audit/audit-chain.store';
import { AuditCheckpointStore } from './audit/audit-checkpoint.store';
import { AuditExportStore } from './audit/audit-export.store';
import { AuditFeed, AuditStore } from './audit/audit.store';
import { BillingStore, PaymentEventStore } from './billing/billing.store';
import { AccountListStore, CloudAccountStore } from './resources/cloud-account.store';
import { CredentialStore } from './resources/credential.store';
import { DataKeyStore } from './resources/credential-secrets';
import { DueSsoSignInStore } from './sso/due-sso-sign-in.store';
import { DueWorkStore } from './due-work.store';
import { EndingStore } from './notices/ending.store';
import { GroupRolesStore } from './sso/group-roles.store';
import { IdempotencyStore } from './sessions/idempotency.store';
import { IdentityProviderStore, OfferedProviderStore } from './sso/identity-provider.store';
import { KnownDeviceStore, SignInFailureStore } from './accounts/sign-in-failure.store';
import { LockdownStore } from './organizations/lockdown.store';
import { MfaStore } from './accounts/mfa.store';
import { NoticeStore } from './notices/notice.store';
import { OffboardingStore } from './organizations/offboarding.store';
import { AllOidcTrustsStore, OidcTrustStore } from './sso/oidc-trust.store';
import {
  OrganizationClosingStore,
  OrganizationDeletionStore,
} from './organizations/organization-deletion.store';
import { OrganizationStore } from './organizations/organization.store';
import { PasswordStore } from './accounts/password.store';
import { PlatformStore } from './organizations/platform.store';
import { RefreshTokenStore } from './accounts/refresh-token.store';
import { ResourceHealthStore, ResourceRulesStore } from './resources/resource-rules.store';
import { ResourceStore } from './resources/resource.store';
import { RightsStore } from './roles/rights.store';
import { RoleStore } from './roles/role.store';
import { SealedRecordStore, UnwrittenAuditStore } from './audit/sealed-record.store';
import { SessionPlanStore } from './sessions/session-plan.store';
import { SessionRetentionStore, SpentTokenStore } from './retention.store';
import { SessionStore } from './sessions/session.store';
import { SignInStore } from './accounts/sign-in.store';
import { SsoAttemptStore } from './sso/sso-attempt.store';
import { SsoSignInStore } from './sso/sso-sign-in.store';
import { StaticIpRuleStore } from './resources/static-ip-rule.store';
import { SubscriptionMoveStore, SubscriptionSweepStore } from './billing/subscription-move.store';
import { TrialStore } from './roles/trial.store';
import { UserIdentityStore } from './sso/user-identity.store';
import { UserStore } from './accounts/user.store';
import { VerificationStore } from './resources/verification.store';
import { WebhookDeliveryStore } from './webhooks/webhook-delivery.store';
import { WebhookStore } from './webhooks/webhook.store';
import type { Database, Tx } from '#entities';

/** Everything that requests and the worker's tasks read and write of organizations. Each process has one. */
export class TenantStores {
  readonly accessRequests = new AccessRequestStore();
  readonly accounts = new AccountStore();
  readonly accountLists = new AccountListStore();
  readonly accountTokens = new AccountTokenStore();
  readonly allOidcTrusts = new AllOidcTrustsStore();
  readonly apiKeys = new ApiKeyStore();
  readonly attention = new AttentionStore();
  readonly auditChains = new AuditChainStore();
  readonly auditCheckpoints = new AuditCheckpointStore();
  readonly auditExports = new AuditExportStore();
  readonly auditFeed = new AuditFeed();
  readonly audit = new AuditStore();
  readonly billing = new BillingStore();
  readonly cloudAccounts = new CloudAccountStore();
  readonly credentials = new CredentialStore();
  readonly dataKeys = new DataKeyStore();
  readonly dueSsoSignIns = new DueSsoSignInStore();
  readonly dueWork = new DueWorkStore();
  readonly endings = new EndingStore();
  readonly idempotency = new IdempotencyStore();
  readonly identityProviders = new IdentityProviderStore();
  readonly knownDevices = new KnownDeviceStore();
  readonly mfa = new MfaStore();
  readonly notices = new NoticeStore();
  readonly offeredProviders = new OfferedProviderStore();
  readonly oidcTrusts = new OidcTrustStore();
  readonly organizationClosing = new OrganizationClosingStore();
  readonly organizations = new OrganizationStore();
  readonly passwords = new PasswordStore();
  readonly paymentEvents = new PaymentEventStore();
  readonly platform = new PlatformStore();
  readonly refreshTokens = new RefreshTokenStore();
  readonly resourceHealth = new ResourceHealthStore();
  readonly resourceRules = new ResourceRulesStore();
  readonly resources = new ResourceStore();
  readonly reviews = new ReviewStore();
  readonly rights = new RightsStore();
  readonly roles = new RoleStore();
  readonly sealedRecords = new SealedRecordStore();
  readonly sessionPlans = new SessionPlanStore();
  readonly sessionRetention = new SessionRetentionStore();
  readonly sessions = new SessionStore();
  readonly signInFailures = new SignInFailureStore();
  readonly signIns = new SignInStore();
  readonly spentTokens = new SpentTokenStore();
  readonly ssoAttempts = new SsoAttemptStore();
  readonly ssoSignIns = new SsoSignInStore();
  readonly staticIpRules = new StaticIpRuleStore();
  readonly subscriptionMoves = new SubscriptionMoveStore();
  readonly subscriptionSweep = new SubscriptionSweepStore();
  readonly trials = new TrialStore();
  readonly unwrittenAudit = new UnwrittenAuditStore();
  readonly userIdentities = new UserIdentityStore();
  readonly users = new UserStore();
  readonly verification = new VerificationStore();
  readonly webhookDeliveries = new WebhookDeliveryStore();
  readonly webhooks = new WebhookStore();

  // these use some of the others
  readonly offboarding = new OffboardingStore(this.ssoSignIns);
  readonly lockdowns = new LockdownStore(this.offboarding, this.staticIpRules);
  readonly groupRoles = new GroupRolesStore(this.roles, this.users, this.offboarding);
  readonly organizationDeletion = new OrganizationDeletionStore(
    this.users,
    this.offboarding,
    this.resourceRules,
    this.credentials,
  );
}

/** The stores, with the connections that they are used on. */
export class Tenants extends TenantStores {
  constructor(readonly database: Database) {
    super();
  }

  get autocommit(): Tx {
    return this.database.autocommit;
  }

  get closing(): Database {
    return this.database.closing;
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }
}
