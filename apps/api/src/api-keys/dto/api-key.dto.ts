import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsISO8601, IsString, Matches } from 'class-validator';
import { SCOPES, type Scope } from '#guards';
import { AGENT_NAME, AGENT_NAME_EXAMPLE } from '../../agents/agent-name';
import { id, line, Optional, Required, someScopes, text, TIME, type Kind } from '../../http/fields';
import { listQueryOf } from '../../http/list-query.dto';
import { TEXT_OR_NULL, TIME_OR_NULL } from '../../http/nullable';
import { API_KEY_LIST } from '#tenant-store';

const MAX_AGENTS = 100;

const AGENTS: Kind = {
  checks: [
    IsArray({ message: 'must be an array of names' }),
    IsString({ each: true, message: 'must hold names of hosts' }),
    ArrayNotEmpty({ message: 'must hold at least one name, or be left out' }),
    ArrayMaxSize(MAX_AGENTS, { message: `must hold at most ${MAX_AGENTS} names` }),
    Matches(AGENT_NAME, { each: true, message: `must hold names that look like ${AGENT_NAME_EXAMPLE}` }),
  ],
  doc: { type: [String], minItems: 1, maxItems: MAX_AGENTS, example: ['db-host-1'] },
};

const EXPIRY: Kind = {
  checks: [IsISO8601({ strict: true }, { message: 'must be an ISO 8601 time' })],
  doc: TIME,
};

export class ApiKeyQueryDto extends listQueryOf(API_KEY_LIST, { scope: SCOPES }) {}

export class CreateApiKeyDto {
  @Required(line(100), { example: 'pipeline' })
  name!: string;

  @Optional(text(1000), { nullable: true, example: 'Opens the test database' })
  description?: string | null;

  @Required(someScopes(SCOPES, 'Scope'), { example: ['sessions:write', 'sessions:read'] })
  scopes!: Scope[];

  @Optional(AGENTS, {
    nullable: true,
    description:
      'With agent:connect: the hosts the key may serve. Left out: it is bound to the first host it serves',
  })
  agents?: string[] | null;

  @Optional(EXPIRY, { nullable: true, description: 'Left out: valid until revoked' })
  expiresAt?: string | null;

  @Optional(id(), {
    nullable: true,
    description: 'The user the key acts for and whose permissions it never exceeds. Left out: you',
  })
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
  @ApiProperty(TEXT_OR_NULL) description!: string | null;
  @ApiProperty({ example: 'dbk_8fK2', description: 'The first characters, to identify the key' })
  keyPrefix!: string;
  @ApiProperty({ enum: SCOPES, enumName: 'Scope', isArray: true }) scopes!: string[];
  @ApiProperty({
    type: [String],
    example: [],
    description: 'The hosts a key with agent:connect is bound to; empty until it serves its first one',
  })
  agents!: string[];
  @ApiProperty() isRevoked!: boolean;
  @ApiProperty(TIME_OR_NULL) revokedAt!: Date | null;
  @ApiProperty(TIME_OR_NULL) expiresAt!: Date | null;
  @ApiProperty(TIME_OR_NULL) lastUsedAt!: Date | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: '203.0.113.10' }) lastUsedIp!: string | null;
  @ApiProperty({ format: 'email' }) createdByEmail!: string;
  @ApiProperty(TIME) createdAt!: Date;
}

export class CreatedApiKeyDto extends ApiKeyDto {
  @ApiProperty({ example: 'dbk_8fK2…', description: 'The key: returned only once' })
  plainTextKey!: string;
}
