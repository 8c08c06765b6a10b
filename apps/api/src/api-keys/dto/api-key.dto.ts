import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsISO8601,
  IsNotEmpty,
  IsOptional,
  IsString,
  IsUUID,
  MaxLength,
} from 'class-validator';
import { SCOPES, type Scope } from '#guards';
import { trimmed } from '../../http/text-fields';

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;

export class CreateApiKeyDto {
  @ApiProperty({ example: 'pipeline', maxLength: 100 })
  @trimmed()
  @IsNotEmpty({ message: 'must not be empty' })
  @MaxLength(100, { message: 'must be at most 100 characters' })
  @IsString({ message: 'must be a string' })
  name!: string;

  @ApiPropertyOptional({ type: String, nullable: true, maxLength: 1000, example: 'Opens the test database' })
  @IsOptional()
  @MaxLength(1000, { message: 'must be at most 1000 characters' })
  @IsString({ message: 'must be a string' })
  description?: string | null;

  @ApiProperty({ enum: SCOPES, isArray: true, example: ['sessions:write', 'sessions:read'] })
  @ArrayNotEmpty({ message: 'must hold at least one scope' })
  @IsIn(SCOPES, { each: true, message: `must hold only ${SCOPES.join(', ')}` })
  @IsArray({ message: 'must be an array of scopes' })
  scopes!: Scope[];

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    ...TIME,
    description: 'Left out: valid until revoked',
  })
  @IsOptional()
  @IsISO8601({ strict: true }, { message: 'must be an ISO 8601 time' })
  expiresAt?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    format: 'uuid',
    description: 'Whose sessions it starts, and whose rights it never exceeds. Left out: you',
  })
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  userId?: string | null;
}

export class ApiKeyDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'pipeline' }) name!: string;
  @ApiProperty({ type: String, nullable: true }) description!: string | null;
  @ApiProperty({ example: 'dbk_8fK2', description: 'The first characters, to recognise the key by' })
  keyPrefix!: string;
  @ApiProperty({ enum: SCOPES, isArray: true }) scopes!: string[];
  @ApiProperty() isRevoked!: boolean;
  @ApiProperty({ type: String, nullable: true, ...TIME }) revokedAt!: string | null;
  @ApiProperty({ type: String, nullable: true, ...TIME }) expiresAt!: string | null;
  @ApiProperty({ type: String, nullable: true, ...TIME }) lastUsedAt!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '203.0.113.10' }) lastUsedIp!: string | null;
  @ApiProperty({ format: 'email' }) createdByEmail!: string;
  @ApiProperty(TIME) createdAt!: string;
}

export class CreatedApiKeyDto extends ApiKeyDto {
  @ApiProperty({ example: 'dbk_8fK2…', description: 'The key itself: shown this once' })
  plainTextKey!: string;
}
