import { createHash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { invalidField } from '../errors';
import type { StartSessionDto } from './dto/start-session.dto';

export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';

const PATTERN = /^[\x21-\x7e]{1,255}$/;
const MESSAGE = 'must be 1 to 255 visible ASCII characters';

/** Handler parameter: the Idempotency-Key of the request, null without one. @throws ApiError 400 when it is malformed */
export const IdempotencyKey = createParamDecorator((_: unknown, context: ExecutionContext): string | null => {
  const key = context.switchToHttp().getRequest<Request>().get(IDEMPOTENCY_KEY_HEADER);
  if (key === undefined) return null;
  if (PATTERN.test(key)) return key;
  throw invalidField(IDEMPOTENCY_KEY_HEADER, MESSAGE);
});

const HASHED = [
  'durationHours',
  'ipv4Address',
  'ipv6Address',
  'resourceIds',
  'resourceNames',
  'holder',
  'leaseSeconds',
  'replaces',
  'reason',
  'ticket',
  'accessRequestId',
  'breakGlass',
] satisfies (keyof StartSessionDto)[];

/** Equal for equal requests, independent of the order of their JSON fields. */
export const requestHash = (dto: StartSessionDto): string =>
  createHash('sha256').update(JSON.stringify(dto, HASHED)).digest('base64url');
