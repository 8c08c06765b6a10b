import { STATUS_CODES } from 'node:http';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ApiError } from '../errors';
import { failureOf } from '../errors/failure';

export class PlanRefusalDto {
  @ApiProperty({ type: 'integer', example: 403 }) status!: number;
  @ApiProperty({ example: 'Forbidden' }) error!: string;
  @ApiProperty({ example: 'Resource "demo-database" is not assigned to you' }) message!: string;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { durationHours: 'must be at most 8: the maximum set by role "Developers"' },
  })
  validationErrors?: Readonly<Record<string, string>>;
}

/** What the request itself would answer, as a part of a plan. */
export function planRefusal(error: ApiError): PlanRefusalDto {
  const { status, message, code, validationErrors } = failureOf(error);
  const named = { status, error: code ?? STATUS_CODES[status] ?? 'Error', message };
  return validationErrors ? { ...named, validationErrors } : named;
}
