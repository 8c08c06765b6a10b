import { ApiPropertyOptional } from '@nestjs/swagger';
import { LIVE_SESSION_STATUSES, SESSION_STATUSES, type SessionStatus } from '#rules';
import { Transform, Type } from 'class-transformer';
import { IsBoolean, IsIn, IsInt, IsOptional, IsUUID, Max, Min } from 'class-validator';

export class SessionQueryDto {
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  resourceId?: string;

  @ApiPropertyOptional({ enum: SESSION_STATUSES, isArray: true, description: 'May be repeated' })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? (value as unknown[]) : [value]))
  @IsIn(SESSION_STATUSES, { each: true, message: `must be one of ${SESSION_STATUSES.join(', ')}` })
  status?: SessionStatus[];

  @ApiPropertyOptional({ description: `true: only ${LIVE_SESSION_STATUSES.join(', ')}` })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean({ message: 'must be true or false' })
  active?: boolean;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, default: 0 })
  @Type(() => Number)
  @Min(0, { message: 'must be 0 or more' })
  @IsInt({ message: 'must be a whole number' })
  page = 0;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 100, default: 100 })
  @Type(() => Number)
  @Min(1, { message: 'must be at least 1' })
  @Max(100, { message: 'must be at most 100' })
  @IsInt({ message: 'must be a whole number' })
  size = 100;
}

export class AdminSessionQueryDto extends SessionQueryDto {
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  userId?: string;
}
