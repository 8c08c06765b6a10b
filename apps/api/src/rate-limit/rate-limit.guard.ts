import { createHash } from 'node:crypto';
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
import { presentedCredential, routePolicyOf } from '#guards';
import { rateLimitBuckets, type RateLimitBucket } from '#rules';
import { tooManyRequests } from '../errors';
import { callerAddressOf } from '../http/caller-address';
import { isFromConsole } from '../http/console-header';
import { CREDENTIAL_REFUSED } from '../http/send-error-response';
import { FixedWindows } from './fixed-windows';
import { isUncounted, type ExtraLimit } from './rate-limit.decorators';
import type { RequestWindows } from './request-windows';

const GENERAL = 'default';
/** Limits whose count is shown in the headers: of the general one, or of the one that takes its place. */
const SHOWN: ReadonlySet<string> = new Set([
  GENERAL,
  ...(['issuer', 'agent', 'detection'] satisfies ExtraLimit[]),
]);
const REGISTRATION: ExtraLimit = 'registration';
const AGENT: ExtraLimit = 'agent';
/** Requests whose credential is refused, by address. */
export const REFUSAL = 'refusal';
/** A route that is not counted serves an address with this many times as many requests without a credential, or with a refused one. */
const UNCOUNTED_FACTOR = 10;
/** A route that is not counted and asks for no credential answers an address at least so often in a minute. */
const LEAST_UNCOUNTED = 600;
const MAX_REFUSED = 10_000;
/** A screen of the console is many small requests, repeated while it is looked at. */
const CONSOLE_FACTOR = 10;

/**
 * Counts requests before any other processing, with one counter for all routes: by address and credential, so that callers
 * behind one address do not take each other's turns; by session for its token; by address alone where no credential counts.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  /** buckets with as many refused credentials as they may have, until their window ends */
  private readonly refused = new LRUCache<string, true>({ max: MAX_REFUSED });
  /** of routes that are not counted and ask for no credential: of this process, as probes must not wait for Redis */
  private readonly uncounted = new FixedWindows();

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
    const uncounted = isUncounted(context.getHandler(), context.getClass());
    if (name === REFUSAL && uncounted && isPublic(context)) return this.countGenerously(req, request);
    if (name === REFUSAL) return this.refuseGuessing(req, res, request, uncounted);
    if (name === GENERAL && uncounted) return true;
    const { buckets, caller } = this.countedAs(req, name, context);
    for (const [index, bucket] of buckets.entries()) {
      const most = limit * bucket.factor;
      const count = await this.windows.increment(bucket.name, ttl, most);
      if (count.isBlocked || (SHOWN.has(name) && index === 0)) {
        res.setHeader('X-RateLimit-Limit', most);
        res.setHeader('X-RateLimit-Remaining', Math.max(0, most - count.totalHits));
        res.setHeader('X-RateLimit-Reset', count.timeToExpire);
      }
      if (count.isBlocked)
        throw tooManyRequests(refusal(caller, count.timeToBlockExpire), count.timeToBlockExpire);
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

  /** Each controller apart: who asks for one page all the time still gets the others. @throws ApiError 429 */
  private async countGenerously(
    request: Request,
    { context, ttl, limit }: ThrottlerRequest,
  ): Promise<boolean> {
    const perAddress = Math.max(LEAST_UNCOUNTED, limit * UNCOUNTED_FACTOR);
    for (const { name, factor } of addressBuckets(request, context.getClass().name)) {
      const most = perAddress * factor;
      const { isBlocked, timeToBlockExpire } = await this.uncounted.increment(name, ttl, most);
      if (isBlocked)
        throw tooManyRequests(refusal('from this address', timeToBlockExpire), timeToBlockExpire);
    }
    return true;
  }

  /**
   * Counts a request when its credential is refused, so that waiting requests do not count, and guessed credentials do not each
   * have a count of their own.
   * @throws ApiError 429
   */
  private refuseGuessing(
    request: Request,
    response: Response,
    { context, ttl, limit }: ThrottlerRequest,
    uncounted: boolean,
  ): boolean {
    if (isPublic(context)) return true;
    const buckets = addressBuckets(request, REFUSAL);
    const factor = uncounted ? UNCOUNTED_FACTOR : 1;
    const leftMs = Math.max(
      ...buckets.map(({ name }) => this.refused.getRemainingTTL(refusedName(name, factor))),
    );
    const seconds = Math.ceil(leftMs / 1000);
    if (seconds > 0) throw tooManyRequests(refusal('from this address', seconds), seconds);
    response.once(CREDENTIAL_REFUSED, () => {
      for (const bucket of buckets) void this.countRefusal(bucket, ttl, limit * bucket.factor);
    });
    return true;
  }

  private async countRefusal({ name }: RateLimitBucket, ttl: number, limit: number): Promise<void> {
    const { totalHits, timeToExpire } = await this.windows.increment(name, ttl, limit);
    for (const factor of [1, UNCOUNTED_FACTOR])
      if (totalHits >= limit * factor)
        this.refused.set(refusedName(name, factor), true, { ttl: 1000 * timeToExpire });
  }

  private httpOf(context: ExecutionContext): { req: Request; res: Response } {
    const http = context.switchToHttp();
    return { req: http.getRequest<Request>(), res: http.getResponse<Response>() };
  }

  /** @returns what a request is counted as, and words for it */
  private countedAs(
    request: Request,
    name: string,
    context: ExecutionContext,
  ): { readonly buckets: readonly RateLimitBucket[]; readonly caller: string } {
    const presented = presentedCredential(request.headers);
    const own = (bucket: string, caller: string): ReturnType<typeof this.countedAs> => ({
      buckets: [{ name: `${name} ${bucket}`, factor: 1 }],
      caller,
    });
    if (name === AGENT && presented.kind === 'key') return own(digest(presented.text), 'with this API key');
    const byAddress = addressBuckets(request, name);
    if (name !== GENERAL || presented.kind === 'none' || isPublic(context))
      return { buckets: byAddress, caller: 'from this address' };
    const credential = digest(presented.kind === 'bearer' ? signInOf(presented.text) : presented.text);
    if (presented.kind === 'session') return own(credential, 'with this session token');
    const isScreen = presented.kind === 'bearer' && isFromConsole(request);
    return {
      buckets: byAddress.map(({ name: bucket, factor }) =>
        isScreen
          ? { name: `console ${bucket} ${credential}`, factor: factor * CONSOLE_FACTOR }
          : { name: `${bucket} ${credential}`, factor },
      ),
      caller: 'from this address with this credential',
    };
  }
}

/** No credential is asked for: one that is sent anyway may be made up. */
const isPublic = (context: ExecutionContext): boolean =>
  routePolicyOf(context.getHandler(), context.getClass())?.kind === 'public';

function addressBuckets(request: Request, name: string): readonly RateLimitBucket[] {
  const address = callerAddressOf(request);
  const buckets = address ? rateLimitBuckets(address) : [{ name: 'unknown', factor: 1 }];
  return buckets.map((bucket) => ({ ...bucket, name: `${name} ${bucket.name}` }));
}

/**
 * The sign-in that an access token says it is of: its next token is counted with it. Not verified yet: a token that is made
 * up is refused, and counted as such.
 */
function signInOf(token: string): string {
  try {
    const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
    const { sid } = JSON.parse(payload) as { sid?: unknown };
    return typeof sid === 'string' ? sid : token;
  } catch {
    return token;
  }
}

const refusedName = (bucket: string, factor: number): string => `${factor} ${bucket}`;

const digest = (credential: string): string => createHash('sha256').update(credential).digest('base64url');

/** @param caller whose requests were counted: from where, with what */
const refusal = (caller: string, seconds: number): string =>
  `Too many requests ${caller}: try again in ${seconds} second${seconds === 1 ? '' : 's'}`;
