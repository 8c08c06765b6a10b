import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { isUUID } from 'class-validator';
import { lastValueFrom, of, type Observable } from 'rxjs';
import { principalOfRequest } from '#guards';
import { asksForDryRun, HasDryRun } from '../http/dry-run';
import { isUncounted } from '../rate-limit/rate-limit.decorators';
import { Trials } from './trials';

/** Answers a request with `dryRun` by the plan of what it asks for. */
@Injectable()
export class DryRunInterceptor implements NestInterceptor {
  constructor(
    private readonly trials: Trials,
    private readonly reflector: Reflector,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request<{ id: string }>>();
    if (!asksForDryRun(request)) return next.handle();
    const handler = context.getHandler();
    const principal = principalOfRequest(request)!;
    if (isUncounted(handler, context.getClass())) await this.trials.count(principal);
    const { rightsOf } = this.reflector.get(HasDryRun, handler);
    const { id } = request.params;
    // the handler refuses any other
    const subject = rightsOf && isUUID(id) ? { kind: rightsOf, id } : null;
    http.getResponse<Response>().status(200);
    return of(await this.trials.plan(principal, subject, () => lastValueFrom(next.handle(), DONE)));
  }
}

/** A handler without an answer. */
const DONE = { defaultValue: undefined };
