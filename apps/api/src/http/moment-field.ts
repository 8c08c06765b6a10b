import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsISO8601, IsOptional, Matches } from 'class-validator';

const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;
const MOMENT_MESSAGE =
  'must be an ISO 8601 time, e.g. 2026-01-31T09:30:00Z or 2026-01-31 (a + of an offset is sent as %2B)';

/** Property decorator: an optional time with an offset, or a day in UTC. */
export function Moment(description: string): PropertyDecorator {
  const checks = [
    ApiPropertyOptional({ description, example: '2026-01-31T09:30:00Z' }),
    IsOptional(),
    IsISO8601({ strict: true }, { message: MOMENT_MESSAGE }),
    Matches(MOMENT, { message: MOMENT_MESSAGE }),
  ];
  return (target, property) => {
    for (const check of checks) check(target, property);
  };
}
