import { createHash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { badRequest } from '../errors';
import type { StartSessionDto } from './dto/start-session.dto';

export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';

const FORM = /^[\x21-\x7e]{1,255}$/;
const MESSAGE = 'must be 1 to 255 visible ASCII characters';

/** Handler parameter: the Idempotency-Key of the request, null without one. @throws ApiError 400 for an unusable one */
export const IdempotencyKey = createParamDecorator((_: unknown, context: ExecutionContext): string | null => {
  const key = context.switchToHttp().getRequest<Request>().get(IDEMPOTENCY_KEY_HEADER);
  if (key === undefined) return null;
  if (FORM.test(key)) return key;
  throw badRequest(`${IDEMPOTENCY_KEY_HEADER} ${MESSAGE}`, { [IDEMPOTENCY_KEY_HEADER]: MESSAGE });
});

/** The same for two requests that ask for the same, however their JSON was written. */
export function requestHash({
  durationHours,
  ipv4Address,
  ipv6Address,
  resourceIds,
  holder,
}: StartSessionDto): string {
  const asked = { durationHours, ipv4Address, ipv6Address, resourceIds, holder };
  return createHash('sha256').update(JSON.stringify(asked)).digest('base64url');
}
