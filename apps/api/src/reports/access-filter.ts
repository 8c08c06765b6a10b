import type { AccessFilter, AccessWindow } from '#engine-store/port';
import { canonicalCidr } from '#rules';
import { invalidField } from '../errors/api-error';
import { timeRange } from '../http/time-range';
import type { AccessQueryDto } from './dto/access-query.dto';

const MAX_WINDOW_DAYS = 400;
const DAY_MS = 86_400_000;

const FILTERS = ['resourceId', 'userId', 'address'] as const;

/** @throws ApiError 400 when more than one of resourceId, userId and address is given, or none with from and to */
export function accessFilter(query: AccessQueryDto): AccessFilter {
  const [first, second] = FILTERS.filter((field) => query[field] !== undefined);
  if (first === undefined) {
    if (query.from === undefined && query.to === undefined) return { by: 'organization' };
    throw invalidField('resourceId', 'is required with from and to, or else userId or address');
  }
  if (second !== undefined) throw invalidField(second, `must be left out when ${first} is given`);
  if (query.resourceId !== undefined) return { by: 'resource', resourceId: query.resourceId };
  if (query.userId !== undefined) return { by: 'user', userId: query.userId };
  const range = canonicalCidr(query.address!);
  if (!range) throw invalidField('address', 'must be an IP address or a CIDR range');
  return { by: 'address', address: range.cidr };
}

/** @throws ApiError 400 when at is given with from or to, only one of these is, or the window is too long */
export function accessWindow(query: AccessQueryDto): AccessWindow {
  if (query.at !== undefined || (query.from === undefined && query.to === undefined)) {
    const other = (['from', 'to'] as const).find((field) => query[field] !== undefined);
    if (other) throw invalidField(other, 'must be left out when at is given');
    const at = query.at === undefined ? new Date() : new Date(query.at);
    return { from: at, to: at };
  }
  const { from, to } = timeRange(query);
  if (!from) throw invalidField('from', 'is required with to');
  if (!to) throw invalidField('to', 'is required with from');
  if (to.getTime() - from.getTime() > MAX_WINDOW_DAYS * DAY_MS) {
    throw invalidField('to', `must be at most ${MAX_WINDOW_DAYS} days after from: ask for shorter windows`);
  }
  return { from, to };
}
