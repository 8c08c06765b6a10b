import { ApiPropertyOptional } from '@nestjs/swagger';
import { LIVE_SESSION_STATUSES, SESSION_STATUSES, type SessionStatus } from '#rules';
import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsOptional, IsUUID } from 'class-validator';
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

  @ApiPropertyOptional({ description: `true: only ${LIVE_SESSION_STATUSES.join(', ')}` })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean({ message: 'must be true or false' })
  active?: boolean;
}

export class AdminSessionQueryDto extends SessionQueryDto {
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  userId?: string;
}
