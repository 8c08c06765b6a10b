import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** The error body of most endpoints. */
export class ErrorDto {
  @ApiProperty({ format: 'date-time', example: '2026-01-05T09:30:00.000Z' }) timestamp!: string;
  @ApiProperty({ example: 400 }) status!: number;
  @ApiProperty({ example: 'Bad Request', description: 'the status in words' }) error!: string;
  @ApiProperty({ example: 'durationHours must be at least 1' }) message!: string;
  @ApiProperty({ example: '/api/v1/sessions' }) path!: string;
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { durationHours: 'must be at least 1' },
    description: 'only when fields of the request are wrong: one message for each, to be read after its name',
  })
  validationErrors?: Record<string, string>;
}

/** The error body of resources, credentials, static IP rules, organization settings and billing. */
export class CodedErrorDto {
  @ApiProperty({ example: 'VALIDATION_ERROR', description: 'a code for programs' }) error!: string;
  @ApiProperty({ example: 'name must not be blank' }) message!: string;
  @ApiProperty({ format: 'date-time', example: '2026-01-05T09:30:00.000Z' }) timestamp!: string;
}

/** The answer to an API key that lacks the scope an endpoint asks for. */
export class ScopeErrorDto {
  @ApiProperty({ example: 'Insufficient permissions' }) error!: string;
  @ApiProperty({ example: 'API key does not have required scope: sessions:write' }) message!: string;
}
