import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsNotEmpty, IsObject, IsString, MaxLength } from 'class-validator';
import { leftOutWhenNull } from '../../http/absent-fields';
import { trimmed } from '../../http/text-fields';
import { DriverRegistry } from '#drivers';
import { PROVIDERS, type Provider } from '#rules';

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;

/** Every provider's types with their fields; `?`: may be left out. */
function credentialTypeMessage(): string {
  return PROVIDERS.map((provider) => {
    const types = Object.entries(DriverRegistry.facts(provider).credentialTypes);
    const words = types.map(([name, { required, optional }]) => {
      const fields = [...required, ...optional.map((field) => `${field}?`)];
      return fields.length === 0 ? name : `${name} (${fields.join(', ')})`;
    });
    return `${provider}: ${words.join(', ')}`;
  }).join('; ');
}

export class CreateCredentialDto {
  @ApiProperty({ example: 'Production AWS', maxLength: 200 })
  @IsNotEmpty({ message: 'must not be empty' })
  @MaxLength(200, { message: 'must be at most 200 characters' })
  @trimmed()
  @IsString({ message: 'must be a string' })
  name!: string;

  @ApiProperty({ enum: PROVIDERS })
  @IsIn(PROVIDERS, { message: `must be one of ${PROVIDERS.join(', ')}` })
  provider!: Provider;

  @ApiProperty({ example: 'ACCESS_KEY', description: `by provider: ${credentialTypeMessage()}` })
  @IsString({ message: 'must be a string' })
  credentialType!: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    },
    description: 'The fields of the credentialType, see there. Encrypted at once, never shown again',
  })
  @leftOutWhenNull()
  @IsObject({ message: 'must be an object' })
  credentialData?: Record<string, unknown>;
}

export class UpdateCredentialDto {
  @ApiPropertyOptional({ example: 'Production AWS', maxLength: 200 })
  @leftOutWhenNull()
  @IsNotEmpty({ message: 'must not be empty' })
  @MaxLength(200, { message: 'must be at most 200 characters' })
  @trimmed()
  @IsString({ message: 'must be a string' })
  name?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    },
    description: 'All fields of the credentialType anew: nothing of the old ones is kept',
  })
  @leftOutWhenNull()
  @IsObject({ message: 'must be an object' })
  credentialData?: Record<string, unknown>;
}

export class CredentialDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'Production AWS' }) name!: string;
  @ApiProperty({ enum: PROVIDERS }) provider!: Provider;
  @ApiProperty({ example: 'ACCESS_KEY' }) credentialType!: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE' },
    description: 'Facts that are no secret',
  })
  hints!: Record<string, string>;
  @ApiPropertyOptional({
    format: 'uuid',
    description:
      'With ASSUME_ROLE only: the condition sts:ExternalId of the role’s trust policy must name it. Made by the service',
  })
  externalId?: string;
  @ApiProperty({ type: Boolean, nullable: true, description: 'null before the first check' }) isValid!:
    boolean | null;
  @ApiProperty({
    type: String,
    nullable: true,
    ...TIME,
    description: 'When the provider last said yes or no',
  })
  lastVerifiedAt!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: "Why the last check failed, in the provider's words",
  })
  verificationError!: string | null;
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
}
