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
import { Tenants } from '#tenant-store';
import { principalOfRequest } from '#guards';
import { sendErrorResponse } from '../http/send-error-response';
import { ApiError } from '../errors/api-error';
import { callerAddressOf } from '../http/caller-address';
import type { Actor } from '../http/actor';
import { auditActor } from './audit-actor';
import { type AuditedAction, auditedActionOf } from './audited-actions';

/** Malformed requests and requests for objects that do not exist are not denied actions. */
const DENIAL_STATUSES: readonly number[] = [HttpStatus.FORBIDDEN, HttpStatus.CONFLICT];

export const isDenial = (exception: HttpException): boolean =>
  DENIAL_STATUSES.includes(exception.getStatus()) ||
  (exception instanceof ApiError && exception.extras.isAudited === true);

const MAX_PATH_LENGTH = 200;

/** Writes denied actions to the audit trail, then sends the error response. Successful requests are not affected. */
@Catch(HttpException)
export class DeniedActionsFilter implements ExceptionFilter {
  private readonly logger = new Logger('Audit');

  constructor(private readonly stores: Tenants) {}

  async catch(exception: HttpException, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    try {
      await this.record(exception, request);
    } catch (error) {
      // the request is denied even when the record cannot be written
      this.logger.error({ msg: 'A denied action was not recorded', reason: (error as Error).message });
    }
    sendErrorResponse(exception, request, http.getResponse<Response>());
  }

  private async record(exception: HttpException, request: Request): Promise<void> {
    if (!isDenial(exception)) return;
    const principal = principalOfRequest(request);
    const action = auditedActionOf(
      request.method,
      (request.route as { path?: string } | undefined)?.path ?? '',
    );
    if (!principal || !action) return;
    const { id } = request.params;
    // ApiErrors come from services, which have checked that the object exists; guards have not
    const isKnown = exception instanceof ApiError && typeof id === 'string' && isUUID(id);
    const actor = { principal, address: callerAddressOf(request) };
    const path = request.path.slice(0, MAX_PATH_LENGTH);
    await recordDenial(this.stores, actor, action, isKnown ? id : null, exception, { path });
  }
}

/** Records that an action was denied. @param resourceId null: not known, or of no object that exists */
export const recordDenial = (
  { audit, autocommit }: Tenants,
  actor: Pick<Actor, 'principal' | 'address'>,
  action: AuditedAction,
  resourceId: string | null,
  denial: HttpException,
  details: { readonly path?: string } = {},
): Promise<void> =>
  audit.writeDeniedAction(autocommit, actor.principal.organizationId, {
    ...auditActor(actor),
    ...action,
    resourceId,
    resourceName: null,
    result: 'FAILURE',
    errorMessage: denial.message,
    details: { status: denial.getStatus(), ...details },
  });
