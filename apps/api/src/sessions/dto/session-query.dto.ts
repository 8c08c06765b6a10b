import { ApiPropertyOptional } from '@nestjs/swagger';
import { LIVE_SESSION_STATUSES, SESSION_STATUSES, type SessionStatus } from '#rules';
import { Transform, Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsUUID, Max, Min } from 'class-validator';
import { IsFlagInQuery } from '../../http/flag-fields';
import { Moment } from '../../http/moment-field';
import { PageQueryDto } from '../../http/page-query.dto';

export class SessionQueryDto extends PageQueryDto {
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  resourceId?: string;

  @ApiPropertyOptional({ enum: SESSION_STATUSES, isArray: true, description: 'May be repeated' })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? (value as unknown[]) : [value]))
  @IsIn(SESSION_STATUSES, { each: true, message: `must be one of ${SESSION_STATUSES.join(', ')}` })
  status?: SessionStatus[];

  @ApiPropertyOptional({
    description: `true: only ${LIVE_SESSION_STATUSES.join(', ')}; false: only the others`,
  })
  @IsOptional()
  @IsFlagInQuery()
  active?: boolean;

  @Moment('Only sessions whose end, actual or planned, is at or after this time')
  from?: string;

  @Moment('Only sessions that started at or before this time')
  to?: string;
}

export class AdminSessionQueryDto extends SessionQueryDto {
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  userId?: string;
}

export class SessionWaitDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 30,
    description: 'Wait up to this many seconds until the session is no longer PENDING or EXPIRING',
  })
  @IsOptional()
  @Type(() => Number)
  @Min(1, { message: 'must be at least 1' })
  @Max(30, { message: 'must be at most 30' })
  @IsInt({ message: 'must be a whole number of seconds' })
  waitSeconds?: number;
}
