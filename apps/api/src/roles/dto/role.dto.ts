import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { mayBeAbsent } from '../../http/absent-fields';
import { IsLine, IsText } from '../../http/text-fields';

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;
const HOURS_MESSAGE = 'must be a whole number from 1 to 24';

export class CreateRoleDto {
  @ApiProperty({ example: 'Developers', maxLength: 100, description: 'unique in the organization' })
  @IsLine(100)
  name!: string;

  @ApiPropertyOptional({ type: String, example: 'May reach the development databases', maxLength: 1000 })
  @IsOptional()
  @IsText(1000)
  description?: string | null;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 24,
    description: 'Left out: the current maximum of the plan',
  })
  @IsOptional()
  @Min(1, { message: HOURS_MESSAGE })
  @Max(24, { message: HOURS_MESSAGE })
  @IsInt({ message: HOURS_MESSAGE })
  maxSessionDurationHours?: number | null;
}

export class UpdateRoleDto {
  @ApiPropertyOptional({ example: 'Developers', maxLength: 100 })
  @mayBeAbsent()
  @IsLine(100)
  name?: string;

  @ApiPropertyOptional({ type: String, nullable: true, maxLength: 1000, description: 'null: none' })
  @IsOptional()
  @IsText(1000)
  description?: string | null;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 24,
    nullable: true,
    description: 'null: the current maximum of the plan',
  })
  @IsOptional()
  @Min(1, { message: HOURS_MESSAGE })
  @Max(24, { message: HOURS_MESSAGE })
  @IsInt({ message: HOURS_MESSAGE })
  maxSessionDurationHours?: number | null;
}

export class RoleDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'Developers' }) name!: string;
  @ApiProperty({ type: String, nullable: true }) description!: string | null;
  @ApiProperty({ type: 'integer', example: 8, description: "The role's maximum, otherwise the plan's" })
  maxSessionDurationHours!: number;
  @ApiProperty({ type: [String], format: 'uuid' }) resourceIds!: string[];
  @ApiProperty({ type: [String], format: 'uuid' }) userIds!: string[];
  @ApiProperty(TIME) createdAt!: string;
  @ApiProperty(TIME) updatedAt!: string;
}
