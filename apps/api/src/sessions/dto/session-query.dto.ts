import {
  ENDED_REASONS,
  type EndedReason,
  LIVE_SESSION_STATUSES,
  SESSION_STATUSES,
  type SessionStatus,
} from '#rules';
import { anyOf, id, inQuery, moment, Optional, queryFlag, wholeNumber } from '../../http/fields';
import { ADDRESS } from '../../http/list-query.dto';
import { PageQueryDto } from '../../http/page-query.dto';

export class SessionQueryDto extends PageQueryDto {
  @Optional(id())
  resourceId?: string;

  @Optional(anyOf(SESSION_STATUSES, 'SessionStatus'), { description: 'May be repeated' })
  status?: SessionStatus[];

  @Optional(queryFlag(), {
    description: `true: only ${LIVE_SESSION_STATUSES.join(', ')}; false: only the others`,
  })
  active?: boolean;

  @Optional(moment(), { description: 'Only sessions whose end, actual or planned, is at or after this time' })
  from?: string;

  @Optional(moment(), { description: 'Only sessions that started at or before this time' })
  to?: string;

  @Optional(ADDRESS, { description: 'Only sessions of this address. Needs from, at most 31 days ago' })
  address?: string;

  @Optional(anyOf(ENDED_REASONS), { description: 'May be repeated. Needs from, as address' })
  endedReason?: EndedReason[];

  @Optional(queryFlag(), { description: 'Whether started with breakGlass. Needs from, as address' })
  breakGlass?: boolean;
}

export class AdminSessionQueryDto extends SessionQueryDto {
  @Optional(id())
  userId?: string;
}

export class SessionWaitDto {
  @Optional(inQuery(wholeNumber(1, 30, 'of seconds')), {
    description: 'Wait up to this many seconds until the session is no longer PENDING or EXPIRING',
  })
  waitSeconds?: number;
}
