import { ApiProperty } from '@nestjs/swagger';
import type { PlatformRole } from '#rules';
import { TIERS, type Tier } from '#rules';
import { LockdownDto } from '../../lockdown/dto/lockdown.dto';

export class OwnOrganizationDto {
  @ApiProperty({ format: 'uuid', example: '0b6f9a52-8f5d-4f0e-8a55-2f0d6a1f9c11' }) id!: string;
  @ApiProperty({ example: 'Example Ltd' }) name!: string;
  @ApiProperty({ example: 'example-ltd' }) slug!: string;
  @ApiProperty({ enum: TIERS, example: 'FREE' }) subscriptionTier!: Tier;
  @ApiProperty({ example: false, description: 'a suspended organization starts and extends no sessions' })
  suspended!: boolean;
  @ApiProperty({ example: false, description: 'sessions take the address of their caller only' })
  requireDetectedAddress!: boolean;
}

export class MeDto {
  @ApiProperty({ format: 'uuid', example: '7f0c3b1e-2f4f-4c7e-9d53-5c9a8a6f1b20' }) id!: string;
  @ApiProperty({ example: 'ada@example.com' }) email!: string;
  @ApiProperty({ example: 'Ada Lovelace' }) name!: string;
  @ApiProperty({ example: true }) isOrgAdmin!: boolean;
  @ApiProperty({ enum: ['CUSTOMER', 'SUPPORT', 'SUPER_ADMIN'], example: 'CUSTOMER' })
  platformRole!: PlatformRole;
  @ApiProperty({ example: true }) isActive!: boolean;
  @ApiProperty({
    type: LockdownDto,
    nullable: true,
    description: 'of the organization or of this user: no session is started, extended or renewed',
  })
  lockdown!: LockdownDto | null;
  @ApiProperty({ example: false }) mfaEnabled!: boolean;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: '2026-01-05T09:30:00.000Z' })
  lastLoginAt!: Date | null;
  @ApiProperty({ type: [String], example: ['Developers'] }) roleNames!: readonly string[];
  @ApiProperty({ format: 'date-time', example: '2026-01-05T09:00:00.000Z' }) createdAt!: Date;
  @ApiProperty({ format: 'date-time', example: '2026-01-05T09:00:00.000Z' }) updatedAt!: Date;
  @ApiProperty({
    type: 'integer',
    example: 1,
    description: 'how long a session lasts that names no duration, or as long as its resources allow',
  })
  defaultSessionHours!: number;
  @ApiProperty({ type: OwnOrganizationDto }) organization!: OwnOrganizationDto;
}
