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
import { rateLimitBucket } from '#rules';
import { tooManyRequests } from '../errors';
import { callerAddressOf } from '../http/caller-address';
import type { ExtraLimit } from './rate-limit.decorators';
import type { RequestWindows } from './request-windows';

const GENERAL = 'default';
/** Limits whose count is shown in the headers: of the general one, or of the one that takes its place. */
const SHOWN: ReadonlySet<string> = new Set([GENERAL, 'issuer' satisfies ExtraLimit]);
const REGISTRATION: ExtraLimit = 'registration';

/** Counts every request of a client before any other processing, with one counter for all routes. */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
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
    const key = this.keyOf(req, name);
    const count = await this.windows.increment(key, ttl, limit);
    const remaining = Math.max(0, limit - count.totalHits);
    if (count.isBlocked || SHOWN.has(name)) {
      res.setHeader('X-RateLimit-Limit', limit);
      res.setHeader('X-RateLimit-Remaining', remaining);
      res.setHeader('X-RateLimit-Reset', count.timeToExpire);
    }
    if (count.isBlocked) {
      throw tooManyRequests(refusal(count.timeToBlockExpire), count.timeToBlockExpire);
    }
    if (name === REGISTRATION) this.uncountIfFailed(res, key);
    return true;
  }

  /** Only successful registrations count against their limit. */
  private uncountIfFailed(response: Response, key: string): void {
    response.on('finish', () => {
      if (response.statusCode >= 400) void this.windows.decrement(key);
    });
  }

  private httpOf(context: ExecutionContext): { req: Request; res: Response } {
    const http = context.switchToHttp();
    return { req: http.getRequest<Request>(), res: http.getResponse<Response>() };
  }

  private keyOf(request: Request, name: string): string {
    const caller = callerAddressOf(request);
    return `${name} ${caller ? rateLimitBucket(caller) : 'unknown'}`;
  }
}

const refusal = (seconds: number): string =>
  `Too many requests from this address: try again in ${seconds} second${seconds === 1 ? '' : 's'}`;
