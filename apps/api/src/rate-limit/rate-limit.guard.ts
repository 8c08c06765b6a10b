import { Injectable, type ExecutionContext } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { rateLimitBucket } from '#rules';
import { tooManyRequests } from '../errors';
import { callerAddressOf } from '../http/caller-address';

const GENERAL = 'default';

/** Counts every request of a client before anything else looks at it, one counter over all routes. */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  /** @throws ApiError 429; in any case the answer carries the general counter, or the one that refused */
  protected override async handleRequest(asked: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl, throttler, blockDuration } = asked;
    const { req, res } = this.httpOf(context);
    const name = throttler.name ?? GENERAL;
    const key = this.keyOf(req, name);
    const count = await this.storageService.increment(key, ttl, limit, blockDuration, name);
    const remaining = Math.max(0, limit - count.totalHits);
    if (count.isBlocked || name === GENERAL) {
      res.setHeader('X-RateLimit-Limit', limit);
      res.setHeader('X-RateLimit-Remaining', remaining);
      res.setHeader('X-RateLimit-Reset', count.timeToExpire);
    }
    if (count.isBlocked) {
      throw tooManyRequests('Too many requests from this address', count.timeToBlockExpire);
    }
    return true;
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
