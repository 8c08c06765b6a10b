import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { isUUID } from 'class-validator';
import { lastValueFrom, of, type Observable } from 'rxjs';
import { principalOfRequest } from '#guards';
import type { TrialSubjectKind } from '#tenant-store';
import { MOST_IN_BULK } from '../http/bulk.dto';
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
    const request = http.getRequest<Request<{ id?: string }>>();
    if (!asksForDryRun(request)) return next.handle();
    const handler = context.getHandler();
    const principal = principalOfRequest(request)!;
    if (isUncounted(handler, context.getClass())) await this.trials.count(principal);
    const { rightsOf } = this.reflector.get(HasDryRun, handler);
    const subject = rightsOf && { kind: rightsOf, ids: idsOf(request, rightsOf) };
    http.getResponse<Response>().status(200);
    return of(await this.trials.plan(principal, subject, () => lastValueFrom(next.handle(), DONE)));
  }
}

/** Of the object in the path, or of those that the body names. The handler refuses what is no id. */
function idsOf({ params, body }: Request<{ id?: string }>, kind: TrialSubjectKind): string[] {
  const named = (body as Readonly<Record<string, unknown>> | undefined)?.[`${kind}Ids`];
  const ids: readonly unknown[] = params.id ? [params.id] : Array.isArray(named) ? named : [];
  return ids.slice(0, MOST_IN_BULK).filter((id): id is string => isUUID(id));
}

/** A handler without an answer. */
const DONE = { defaultValue: undefined };
