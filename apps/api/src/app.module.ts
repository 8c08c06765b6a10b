import { Module, ValidationPipe, type DynamicModule, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { LoggerModule } from 'nestjs-pino';
import { AccessGuard } from '#guards';
import { AgentsModule } from './agents/agents.module';
import { ApiKeysModule } from './api-keys/api-keys.module';
import type { ApiSettings } from './api.settings';
import { AuditModule } from './audit/audit.module';
import { DeniedActionsFilter } from './audit/denied-actions.filter';
import { AuthModule } from './auth/auth.module';
import { BillingModule } from './billing/billing.module';
import { ConnectionsModule } from './connections/connections.module';
import { CredentialsModule } from './credentials/credentials.module';
import { validationFailed } from './errors';
import { ApiErrorFilter } from './http/api-error.filter';
import { HealthModule } from './health/health.module';
import { JsonBodyInterceptor } from './http/json-body.interceptor';
import { requestLog } from './http/request-log';
import { UnknownRouteModule } from './http/unknown-route.module';
import { MailModule } from './mail/mail.module';
import { MfaModule } from './mfa/mfa.module';
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
import { StaticIpRulesModule } from './static-ip-rules/static-ip-rules.module';
import { UsersModule } from './users/users.module';

/** One module for each resource of the API, in the order of the document's chapters. A new one is a line here. */
export const RESOURCE_MODULES: readonly Type[] = [
  AuthModule,
  MfaModule,
  SessionsModule,
  ResourcesModule,
  ResourceHealthModule,
  CredentialsModule,
  RolesModule,
  UsersModule,
  StaticIpRulesModule,
  OrganizationModule,
  BillingModule,
  AuditModule,
  RuleEventsModule,
  ReportsModule,
  ApiKeysModule,
  AgentsModule,
  PlatformModule,
  HealthModule,
];

const validation = new ValidationPipe({
  transform: true,
  // fields nobody declared are dropped, not refused
  whitelist: true,
  stopAtFirstError: true,
  exceptionFactory: validationFailed,
});

@Module({})
export class AppModule {
  /** The application, connected: what cannot start throws here, not later. */
  static async connect(settings: ApiSettings): Promise<DynamicModule> {
    return {
      module: AppModule,
      imports: [
        await ConnectionsModule.connect(settings),
        LoggerModule.forRoot(requestLog(settings.LOG_LEVEL)),
        MailModule,
        RateLimitModule,
        ...RESOURCE_MODULES,
        // last: it takes every path that no other route took
        UnknownRouteModule,
      ],
      providers: [
        // guards run in this order; bodies are read after them, then validated
        { provide: APP_GUARD, useExisting: RateLimitGuard },
        { provide: APP_GUARD, useExisting: AccessGuard },
        { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
        { provide: APP_PIPE, useValue: validation },
        { provide: APP_FILTER, useClass: ApiErrorFilter },
        // the last one that fits is asked first
        { provide: APP_FILTER, useClass: DeniedActionsFilter },
      ],
    };
  }
}
