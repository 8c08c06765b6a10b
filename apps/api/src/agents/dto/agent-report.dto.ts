import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  MaxLength,
  ValidateNested,
} from 'class-validator';
import { IsFlag } from '../../http/flag-fields';
import { asId } from '../../http/text-fields';
import { AgentIdentityDto } from './agent-state.dto';
import { HostGuardDto } from '../../http/host-guard.dto';

const STATUSES = ['APPLIED', 'FAILED', 'REMOVED'] as const;
const MAX_RESULTS = 1000;

export class AgentResultDto {
  @ApiProperty({ format: 'uuid', description: "The rule's id in the state" })
  @asId()
  @IsUUID(undefined, { message: 'must be a UUID' })
  ruleId!: string;

  @ApiProperty({
    enum: STATUSES,
    description:
      'APPLIED: the rule was read back; FAILED: it could not be applied or removed; REMOVED: its absence was read back',
  })
  @IsIn(STATUSES, { message: `must be one of ${STATUSES.join(', ')}` })
  status!: (typeof STATUSES)[number];

  @ApiPropertyOptional({ type: String, nullable: true, example: 'nft: Operation not permitted' })
  @IsOptional()
  @MaxLength(500, { message: 'must be at most 500 characters' })
  @IsString({ message: 'must be a string' })
  errorMessage?: string | null;
}

export class AgentReportDto extends AgentIdentityDto {
  @ApiProperty({
    example: '42-9b2f0c4d5e6f7a8b9c0d1e2f3a4b5c6d',
    description: 'Version of the state that the report is about',
  })
  @MaxLength(64, { message: 'must be at most 64 characters' })
  @IsString({ message: 'must be a string' })
  version!: string;

  @ApiProperty({ type: [AgentResultDto], maxItems: MAX_RESULTS })
  @ValidateNested({ each: true, message: 'must hold results' })
  @Type(() => AgentResultDto)
  @ArrayMaxSize(MAX_RESULTS, { message: `must hold at most ${MAX_RESULTS} results: send several reports` })
  @IsArray({ message: 'must be an array of results' })
  results!: AgentResultDto[];

  @ApiPropertyOptional({
    default: false,
    description:
      'true: the host has no rules besides those of the state. Settles rules that the agent has forgotten or never knew',
  })
  @IsOptional()
  @IsFlag()
  cleared?: boolean;

  @ApiPropertyOptional({
    type: HostGuardDto,
    description: 'What the host guards now, whatever the version. Absent: as reported before',
  })
  @IsOptional()
  @Type(() => HostGuardDto)
  @ValidateNested()
  @IsObject({ message: 'must be an object' })
  guard?: HostGuardDto | null;
}

@ApiSchema({ description: 'A version other than the reported one means that a newer state is available.' })
export class AgentVersionDto {
  @ApiProperty({ example: '42-9b2f0c4d5e6f7a8b9c0d1e2f3a4b5c6d' }) version!: string;
}
