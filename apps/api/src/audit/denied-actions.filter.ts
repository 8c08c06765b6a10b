import {
  Catch,
  HttpException,
  HttpStatus,
  Logger,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { Request, Response } from 'express';
import { Database } from '#entities';
import { AuditStore } from '#tenant-store';
import { principalOfRequest } from '#guards';
import { answerFailure } from '../http/answer-failure';
import { ApiError } from '../errors/api-error';
import { callerAddressOf } from '../http/caller-address';
import { auditActor } from './audit-actor';
import { auditedActionOf } from './audited-actions';

/** What was understood, and not allowed. A malformed request, or one for what does not exist, attempts nothing. */
const REFUSED: readonly number[] = [HttpStatus.FORBIDDEN, HttpStatus.CONFLICT];

const isRefusal = (exception: HttpException): boolean =>
  REFUSED.includes(exception.getStatus()) ||
  (exception instanceof ApiError && exception.extras.isAudited === true);

const MAX_PER_MINUTE = 10;
const MAX_PATH_LENGTH = 200;

/** Writes the deed somebody was refused into the audit trail, then answers. Costs nothing where nobody is refused. */
@Catch(HttpException)
export class DeniedActionsFilter implements ExceptionFilter {
  private readonly logger = new Logger('Audit');

  constructor(
    private readonly database: Database,
    private readonly audit: AuditStore,
  ) {}

  async catch(exception: HttpException, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    try {
      await this.record(exception, request);
    } catch (error) {
      // the refusal stands, with or without its record
      this.logger.error({ msg: 'A refused deed was not recorded', reason: (error as Error).message });
    }
    answerFailure(exception, request, http.getResponse<Response>());
  }

  private async record(exception: HttpException, request: Request): Promise<void> {
    if (!isRefusal(exception)) return;
    const principal = principalOfRequest(request);
    const deed = auditedActionOf(
      request.method,
      (request.route as { path?: string } | undefined)?.path ?? '',
    );
    if (!principal || !deed) return;
    const { id } = request.params;
    // a service has looked the object up before it refuses; a guard has not
    const isKnown = exception instanceof ApiError && typeof id === 'string' && isUUID(id);
    const entry = {
      ...auditActor(principal, callerAddressOf(request)?.text ?? null),
      ...deed,
      resourceId: isKnown ? id : null,
      resourceName: null,
      result: 'FAILURE' as const,
      errorMessage: exception.message,
      details: { status: exception.getStatus(), path: request.path.slice(0, MAX_PATH_LENGTH) },
    };
    await this.audit.writeRefusal(this.database.autocommit, principal.organizationId, entry, MAX_PER_MINUTE);
  }
}
