import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsNotEmpty, IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { PROVIDERS, type Provider } from '#rules';

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;

export class CreateCredentialDto {
  @ApiProperty({ example: 'Production AWS', maxLength: 200 })
  @IsNotEmpty({ message: 'must not be empty' })
  @MaxLength(200, { message: 'must be at most 200 characters' })
  @IsString({ message: 'must be a string' })
  name!: string;

  @ApiProperty({ enum: PROVIDERS })
  @IsIn(PROVIDERS, { message: `must be one of ${PROVIDERS.join(', ')}` })
  provider!: Provider;

  @ApiProperty({ example: 'ACCESS_KEY' })
  @IsString({ message: 'must be a string' })
  credentialType!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    },
    description: 'The fields of the credentialType. Encrypted at once, never shown again',
  })
  @IsOptional()
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
  @ApiProperty({ type: Boolean, nullable: true, description: 'null before the first check' }) isValid!:
    boolean | null;
  @ApiProperty({ type: String, nullable: true, ...TIME }) lastVerifiedAt!: string | null;
  @ApiProperty({ type: String, nullable: true }) verificationError!: string | null;
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
}
