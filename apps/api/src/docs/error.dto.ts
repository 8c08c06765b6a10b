import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** The error body of most endpoints. */
export class ErrorDto {
  @ApiProperty({ format: 'date-time', example: '2026-01-05T09:30:00.000Z' }) timestamp!: string;
  @ApiProperty({ example: 400 }) status!: number;
  @ApiProperty({
    example: 'Bad Request',
    description: 'the reason phrase of the status; “Company sign-in required” where a password is not enough',
  })
  error!: string;
  @ApiProperty({ example: 'durationHours must be at least 1' }) message!: string;
  @ApiProperty({ example: '/api/v1/sessions' }) path!: string;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { durationHours: 'must be at least 1' },
    description: 'only for invalid fields: one message per field, which follows the field’s name',
  })
  validationErrors?: Record<string, string>;
}

/** The error body of resources, credentials, static IP rules, organization settings and billing. */
export class CodedErrorDto {
  @ApiProperty({ example: 'VALIDATION_ERROR', description: 'a machine-readable code' }) error!: string;
  @ApiProperty({ example: 'name must not be blank' }) message!: string;
  @ApiProperty({ format: 'date-time', example: '2026-01-05T09:30:00.000Z' }) timestamp!: string;
}

/** The response to an API key without the required scope. */
export class ScopeErrorDto {
  @ApiProperty({ example: 'Insufficient permissions' }) error!: string;
  @ApiProperty({ example: 'API key does not have required scope: sessions:write' }) message!: string;
}
