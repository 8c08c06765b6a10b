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
const REGISTRATION: ExtraLimit = 'registration';

/** Counts every request of a client before anything else looks at it, one counter over all routes. */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() private readonly windows: RequestWindows,
    reflector: Reflector,
  ) {
    super(options, windows, reflector);
  }

  /** @throws ApiError 429; in any case the answer carries the general counter, or the one that refused */
  protected override async handleRequest(asked: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl, throttler } = asked;
    const { req, res } = this.httpOf(context);
    const name = throttler.name ?? GENERAL;
    const key = this.keyOf(req, name);
    const count = await this.windows.increment(key, ttl, limit);
    const remaining = Math.max(0, limit - count.totalHits);
    if (count.isBlocked || name === GENERAL) {
      res.setHeader('X-RateLimit-Limit', limit);
      res.setHeader('X-RateLimit-Remaining', remaining);
      res.setHeader('X-RateLimit-Reset', count.timeToExpire);
    }
    if (count.isBlocked) {
      throw tooManyRequests(refusal(count.timeToBlockExpire), count.timeToBlockExpire);
    }
    if (name === REGISTRATION) this.giveBackUnlessDone(res, key);
    return true;
  }

  /** Only accepted registrations count against their limit: a mistyped form is no registration. */
  private giveBackUnlessDone(response: Response, key: string): void {
    response.on('finish', () => {
      if (response.statusCode >= 400) void this.windows.giveBack(key);
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
