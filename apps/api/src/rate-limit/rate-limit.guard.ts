import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
} from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { presentedCredential } from '#guards';
import { rateLimitBuckets, type RateLimitBucket } from '#rules';
import { apiKeyHash } from '#secrets';
import { tooManyRequests } from '../errors';
import { callerAddressOf } from '../http/caller-address';
import { CREDENTIAL_REFUSED } from '../http/send-error-response';
import type { ExtraLimit } from './rate-limit.decorators';
import type { RequestWindows } from './request-windows';

const GENERAL = 'default';
/** Limits whose count is shown in the headers: of the general one, or of the one that takes its place. */
const SHOWN: ReadonlySet<string> = new Set([GENERAL, ...(['issuer', 'agent'] satisfies ExtraLimit[])]);
const REGISTRATION: ExtraLimit = 'registration';
const AGENT: ExtraLimit = 'agent';
const REFUSAL: ExtraLimit = 'refusal';
const MAX_REFUSED = 10_000;

/** Counts every request of a client before any other processing, with one counter for all routes. */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  /** buckets with as many refused credentials as they may have, until their window ends */
  private readonly refused = new LRUCache<string, true>({ max: MAX_REFUSED });

  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() private readonly windows: RequestWindows,
    reflector: Reflector,
  ) {
    super(options, windows, reflector);
  }

  /** Sets the headers of the general counter or the one in its place, or of the counter that refused. @throws ApiError 429 */
  protected override async handleRequest(request: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl, throttler } = request;
    const { req, res } = this.httpOf(context);
    const name = throttler.name ?? GENERAL;
    const buckets = this.bucketsOf(req, name);
    if (name === REFUSAL) return this.refuseGuessing(res, buckets, request);
    for (const [index, bucket] of buckets.entries()) {
      const most = limit * bucket.factor;
      const count = await this.windows.increment(bucket.name, ttl, most);
      if (count.isBlocked || (SHOWN.has(name) && index === 0)) {
        res.setHeader('X-RateLimit-Limit', most);
        res.setHeader('X-RateLimit-Remaining', Math.max(0, most - count.totalHits));
        res.setHeader('X-RateLimit-Reset', count.timeToExpire);
      }
      if (count.isBlocked)
        throw tooManyRequests(refusal(name, count.timeToBlockExpire), count.timeToBlockExpire);
    }
    if (name === REGISTRATION) this.uncountIfFailed(res, buckets);
    return true;
  }

  /** Only successful registrations count against their limit. */
  private uncountIfFailed(response: Response, buckets: readonly RateLimitBucket[]): void {
    response.on('finish', () => {
      if (response.statusCode >= 400) for (const { name } of buckets) void this.windows.decrement(name);
    });
  }

  /** Counts a request when its credential is refused, so that waiting requests do not count. @throws ApiError 429 */
  private refuseGuessing(
    response: Response,
    buckets: readonly RateLimitBucket[],
    { ttl, limit }: ThrottlerRequest,
  ): boolean {
    const leftMs = Math.max(...buckets.map(({ name }) => this.refused.getRemainingTTL(name)));
    const seconds = Math.ceil(leftMs / 1000);
    if (seconds > 0) throw tooManyRequests(refusal(REFUSAL, seconds), seconds);
    response.once(CREDENTIAL_REFUSED, () => {
      for (const bucket of buckets) void this.countRefusal(bucket, ttl, limit * bucket.factor);
    });
    return true;
  }

  private async countRefusal({ name }: RateLimitBucket, ttl: number, limit: number): Promise<void> {
    const { totalHits, timeToExpire } = await this.windows.increment(name, ttl, limit);
    if (totalHits >= limit) this.refused.set(name, true, { ttl: 1000 * timeToExpire });
  }

  private httpOf(context: ExecutionContext): { req: Request; res: Response } {
    const http = context.switchToHttp();
    return { req: http.getRequest<Request>(), res: http.getResponse<Response>() };
  }

  private bucketsOf(request: Request, name: string): readonly RateLimitBucket[] {
    const presented = presentedCredential(request.headers);
    const key = name === AGENT && presented.kind === 'key' ? apiKeyHash(presented.plainText) : null;
    const caller = callerAddressOf(request);
    const unknown = [{ name: 'unknown', factor: 1 }];
    const buckets = key !== null ? [{ name: key, factor: 1 }] : caller ? rateLimitBuckets(caller) : unknown;
    return buckets.map((bucket) => ({ ...bucket, name: `${name} ${bucket.name}` }));
  }
}

const refusal = (limit: string, seconds: number): string =>
  `Too many requests ${limit === AGENT ? 'with this API key' : 'from this address'}: try again in ${seconds} second${seconds === 1 ? '' : 's'}`;
