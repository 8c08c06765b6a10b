import { ApiPropertyOptional } from '@nestjs/swagger';
import { MAX_RESOURCE_IDS } from '#rules';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsInt,
  IsString,
  IsUUID,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { nullAsAbsent } from '../../http/absent-fields';
import { asId, HasNoHiddenCharacters } from '../../http/text-fields';

export class StartSessionDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    example: 2,
    description: 'Default: set by the deployment',
  })
  @nullAsAbsent()
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: 'must be a whole number of hours' })
  durationHours?: number;

  @ApiPropertyOptional({
    example: '203.0.113.10',
    description: "Default: the caller's, when it calls over IPv4",
  })
  @nullAsAbsent()
  @IsString({ message: 'must be an IPv4 address' })
  ipv4Address?: string;

  @ApiPropertyOptional({
    example: '2001:db8::10',
    description: "Default: the caller's, when it calls over IPv6",
  })
  @nullAsAbsent()
  @IsString({ message: 'must be an IPv6 address' })
  ipv6Address?: string;

  @ApiPropertyOptional({
    type: [String],
    format: 'uuid',
    maxItems: MAX_RESOURCE_IDS,
    description: "Default: all of the user's resources",
  })
  @asId()
  @nullAsAbsent()
  @ArrayMaxSize(MAX_RESOURCE_IDS, { message: `must hold at most ${MAX_RESOURCE_IDS} ids` })
  @ArrayNotEmpty({ message: 'must name at least one resource, or be left out' })
  @IsUUID(undefined, { each: true, message: 'must hold UUIDs only' })
  @IsArray({ message: 'must be an array of resource ids' })
  resourceIds?: string[];

  @ApiPropertyOptional({
    maxLength: 64,
    example: 'build-4711',
    description: 'Distinguishes parallel jobs behind one address: each holder has its own session',
  })
  @nullAsAbsent()
  @MaxLength(64, { message: 'must be at most 64 characters' })
  @HasNoHiddenCharacters()
  @IsString({ message: 'must be a string' })
  holder?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 60,
    maximum: 3600,
    example: 300,
    description: 'The session ends this long after its last renewal, and never later than expiresAt',
  })
  @nullAsAbsent()
  @Min(60, { message: 'must be at least 60' })
  @Max(3600, { message: 'must be at most 3600' })
  @IsInt({ message: 'must be a whole number of seconds' })
  leaseSeconds?: number;

  @ApiPropertyOptional({
    format: 'uuid',
    description:
      'An own live session that this one takes the place of: it is stopped in the same transaction, and its startedAt and ' +
      'expiresAt are taken over, so durationHours must be left out',
  })
  @asId()
  @nullAsAbsent()
  @IsUUID(undefined, { message: 'must be a UUID' })
  replaces?: string;
}
