import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsISO8601,
  IsOptional,
  IsString,
  IsUUID,
  Matches,
} from 'class-validator';
import { SCOPES, type Scope } from '#guards';
import { AGENT_NAME, AGENT_NAME_EXAMPLE } from '../../agents/agent-name';
import { PageQueryDto } from '../../http/page-query.dto';
import { IsLine, IsText, asId } from '../../http/text-fields';

const MAX_AGENTS = 100;
const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;

export class ApiKeyQueryDto extends PageQueryDto {
  @ApiPropertyOptional({ format: 'uuid', description: 'Only keys that act for this user' })
  @asId()
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  userId?: string;
}

export class CreateApiKeyDto {
  @ApiProperty({ example: 'pipeline', maxLength: 100 })
  @IsLine(100)
  name!: string;

  @ApiPropertyOptional({ type: String, nullable: true, maxLength: 1000, example: 'Opens the test database' })
  @IsOptional()
  @IsText(1000)
  description?: string | null;

  @ApiProperty({ enum: SCOPES, isArray: true, example: ['sessions:write', 'sessions:read'] })
  @ArrayNotEmpty({ message: 'must hold at least one scope' })
  @IsIn(SCOPES, { each: true, message: `must hold only ${SCOPES.join(', ')}` })
  @IsArray({ message: 'must be an array of scopes' })
  scopes!: Scope[];

  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    minItems: 1,
    maxItems: MAX_AGENTS,
    example: ['db-host-1'],
    description:
      'With agent:connect: the hosts the key may serve. Left out: it is bound to the first host it serves',
  })
  @IsOptional()
  @Matches(AGENT_NAME, { each: true, message: `must hold names that look like ${AGENT_NAME_EXAMPLE}` })
  @ArrayMaxSize(MAX_AGENTS, { message: `must hold at most ${MAX_AGENTS} names` })
  @ArrayNotEmpty({ message: 'must hold at least one name, or be left out' })
  @IsString({ each: true, message: 'must hold names of hosts' })
  @IsArray({ message: 'must be an array of names' })
  agents?: string[] | null;

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
    description: 'The user the key acts for and whose permissions it never exceeds. Left out: you',
  })
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  userId?: string | null;
}

export class ApiKeyDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({
    format: 'uuid',
    description: 'The user the key acts for and whose permissions it never exceeds',
  })
  userId!: string;
  @ApiProperty({ format: 'email', description: 'Of the user the key acts for' }) userEmail!: string;
  @ApiProperty({ example: 'pipeline' }) name!: string;
  @ApiProperty({ type: String, nullable: true }) description!: string | null;
  @ApiProperty({ example: 'dbk_8fK2', description: 'The first characters, to identify the key' })
  keyPrefix!: string;
  @ApiProperty({ enum: SCOPES, isArray: true }) scopes!: string[];
  @ApiProperty({
    type: [String],
    example: [],
    description: 'The hosts a key with agent:connect is bound to; empty until it serves its first one',
  })
  agents!: string[];
  @ApiProperty() isRevoked!: boolean;
  @ApiProperty({ type: String, nullable: true, ...TIME }) revokedAt!: string | null;
  @ApiProperty({ type: String, nullable: true, ...TIME }) expiresAt!: string | null;
  @ApiProperty({ type: String, nullable: true, ...TIME }) lastUsedAt!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '203.0.113.10' }) lastUsedIp!: string | null;
  @ApiProperty({ format: 'email' }) createdByEmail!: string;
  @ApiProperty(TIME) createdAt!: string;
}

export class CreatedApiKeyDto extends ApiKeyDto {
  @ApiProperty({ example: 'dbk_8fK2…', description: 'The key: returned only once' })
  plainTextKey!: string;
}
