import { Logger, Module, ValidationPipe, type DynamicModule, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { ConnectionsModule } from '#connections';
import { AccessGuard } from '#guards';
import { AccessRequestsModule } from './access-requests/access-requests.module';
import { AgentsModule } from './agents/agents.module';
import { ApiKeysModule } from './api-keys/api-keys.module';
import type { ApiSettings } from './api.settings';
import { AttentionModule } from './attention/attention.module';
import { ReviewsModule } from './reviews/reviews.module';
import { AuditModule } from './audit/audit.module';
import { DeniedActionsFilter } from './audit/denied-actions.filter';
import { AuthModule } from './auth/auth.module';
import { BillingModule } from './billing/billing.module';
import { CredentialsModule } from './credentials/credentials.module';
import { DiscoveryModule } from './discovery/discovery.module';
import { DownloadsModule } from './downloads/downloads.module';
import { validationFailed } from './errors';
import { ApiErrorFilter } from './http/api-error.filter';
import { HealthModule } from './health/health.module';
import { IssuerModule } from './issuer/issuer.module';
import { JsonBodyGuard } from './http/json-body.guard';
import { UnknownRouteModule } from './http/unknown-route.module';
import { LockdownModule } from './lockdown/lockdown.module';
import { MailModule } from './mail/mail.module';
import { MfaModule } from './mfa/mfa.module';
import { OidcModule } from './oidc/oidc.module';
import { OrganizationModule } from './organization/organization.module';
import { PlatformModule } from './platform/platform.module';
import { RateLimitGuard } from './rate-limit/rate-limit.guard';
import { RateLimitModule } from './rate-limit/rate-limit.module';
import { ReportsModule } from './reports/reports.module';
import { ResourceHealthModule } from './resource-health/resource-health.module';
import { ResourcesModule } from './resources/resources.module';
import { RolesModule } from './roles/roles.module';
import { RuleEventsModule } from './rule-events/rule-events.module';
import { SessionsModule } from './sessions/sessions.module';
import { SharedModule } from './shared.module';
import { SsoModule } from './sso/sso.module';
import { StaticIpRulesModule } from './static-ip-rules/static-ip-rules.module';
import { UsersModule } from './users/users.module';
import { WebhooksModule } from './webhooks/webhooks.module';

/** One module per resource of the API, in the order of the tags of the OpenAPI document. Add new modules here. */
export const RESOURCE_MODULES: readonly Type[] = [
  AuthModule,
  MfaModule,
  SessionsModule,
  AccessRequestsModule,
  ResourcesModule,
  ResourceHealthModule,
  AttentionModule,
  ReviewsModule,
  CredentialsModule,
  RolesModule,
  UsersModule,
  StaticIpRulesModule,
  OrganizationModule,
  SsoModule,
  LockdownModule,
  BillingModule,
  AuditModule,
  WebhooksModule,
  RuleEventsModule,
  ReportsModule,
  ApiKeysModule,
  OidcModule,
  AgentsModule,
  PlatformModule,
  DownloadsModule,
  DiscoveryModule,
  IssuerModule,
  HealthModule,
];

const validation = new ValidationPipe({
  transform: true,
  // undeclared fields are dropped, not refused
  whitelist: true,
  stopAtFirstError: true,
  exceptionFactory: validationFailed,
});

const POOL_SIZE = 20;
const CLOSING_POOL_SIZE = 5;

function connections(settings: ApiSettings): Promise<DynamicModule> {
  const logger = new Logger('Connections');
  const warn = (error: Error): void =>
    logger.warn({ msg: 'The queue is out of reach', reason: error.message });
  return ConnectionsModule.connect({
    applicationName: 'drawbridge-api',
    poolSize: POOL_SIZE,
    closingPoolSize: CLOSING_POOL_SIZE,
    settings,
    environment: process.env,
    onQueueError: warn,
    onLostWakeUp: warn,
    onRestored: (message) => logger.warn(message),
    onOwnIdentityFailure: ({ message }) =>
      logger.warn({ msg: 'This deployment got no keys of its own identity', reason: message }),
  });
}

@Module({})
export class AppModule {
  /** Connects before the application starts, so that failures surface here. */
  static async connect(settings: ApiSettings): Promise<DynamicModule> {
    return {
      module: AppModule,
      imports: [
        await connections(settings),
        SharedModule.register(settings),
        MailModule,
        RateLimitModule,
        ...RESOURCE_MODULES,
        // last: it matches every remaining path
        UnknownRouteModule,
      ],
      providers: [
        // in this order; then the bodies are validated
        { provide: APP_GUARD, useExisting: RateLimitGuard },
        { provide: APP_GUARD, useExisting: AccessGuard },
        { provide: APP_GUARD, useClass: JsonBodyGuard },
        { provide: APP_PIPE, useValue: validation },
        { provide: APP_FILTER, useClass: ApiErrorFilter },
        // Nest tries filters from last to first
        { provide: APP_FILTER, useClass: DeniedActionsFilter },
      ],
    };
  }
}
