import { Module, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerModule, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { DeploymentId } from '#connections';
import { ApiSettings } from '../api.settings';
import { FixedWindows } from './fixed-windows';
import { CountedAs, type ExtraLimit } from './rate-limit.decorators';
import { RateLimitGuard, REFUSAL } from './rate-limit.guard';
import type { RequestWindows } from './request-windows';
import { SharedWindows } from './shared-windows';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const REGISTRATIONS_PER_HOUR = 5;
/** A cloud fetches the issuers of many organizations from few addresses. */
const ISSUER_FACTOR = 10;
/** A key may serve 100 hosts; each asks twice a minute, and twice more for each change of its rules. */
const AGENT_FACTOR = 20;

const reflector = new Reflector();

const notCountedAs =
  (limit: ExtraLimit) =>
  (context: ExecutionContext): boolean =>
    !reflector.getAllAndOverride(CountedAs, [context.getHandler(), context.getClass()])?.includes(limit);

/** In Redis if it is configured, so that all processes of the deployment share their counts. */
const windowsOf = ({ REDIS_URL }: ApiSettings, deploymentId: string): RequestWindows =>
  REDIS_URL === undefined ? new FixedWindows() : SharedWindows.connect(REDIS_URL, deploymentId);

/** The limits of a deployment. `RateLimitGuard` says whose requests count together. */
export function rateLimits(
  settings: ApiSettings,
  { value }: Pick<DeploymentId, 'value'>,
): ThrottlerModuleOptions {
  const perMinute = settings.RATE_LIMIT_PER_MINUTE;
  const password = { name: 'password', ttl: MINUTE_MS, limit: Math.ceil(perMinute / 3) };
  const registration = { name: 'registration', ttl: HOUR_MS, limit: REGISTRATIONS_PER_HOUR };
  return {
    storage: windowsOf(settings, value),
    throttlers: [
      { name: 'default', ttl: MINUTE_MS, limit: perMinute },
      { ...password, skipIf: notCountedAs('password') },
      {
        name: 'issuer',
        ttl: MINUTE_MS,
        limit: perMinute * ISSUER_FACTOR,
        skipIf: notCountedAs('issuer'),
      },
      { name: 'agent', ttl: MINUTE_MS, limit: perMinute * AGENT_FACTOR, skipIf: notCountedAs('agent') },
      { name: 'detection', ttl: MINUTE_MS, limit: perMinute, skipIf: notCountedAs('detection') },
      { name: REFUSAL, ttl: MINUTE_MS, limit: perMinute },
      ...(settings.EMBEDDED ? [] : [{ ...registration, skipIf: notCountedAs('registration') }]),
    ],
  };
}

@Module({
  imports: [ThrottlerModule.forRootAsync({ inject: [ApiSettings, DeploymentId], useFactory: rateLimits })],
  providers: [RateLimitGuard],
  exports: [RateLimitGuard],
})
export class RateLimitModule {}
