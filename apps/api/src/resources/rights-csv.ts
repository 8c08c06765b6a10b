import { type Columns, csvOf } from '../http/csv';
import type { PersonRightDto, ResourceRightDto } from './dto/right.dto';

/** A file has at most so many rows. */
export const MAX_CSV_ROWS = 100_000;

const TERMS: Columns<PersonRightDto | ResourceRightDto> = [
  ['roles', ({ roles }) => roles.map(({ name }) => name).join('; ')],
  ['maxSessionDurationHours', ({ maxSessionDurationHours }) => maxSessionDurationHours],
  ['approvalsNeeded', ({ approvalsNeeded }) => approvalsNeeded],
  ['needsReason', ({ needsReason }) => needsReason],
  ['mayBreakGlass', ({ mayBreakGlass }) => mayBreakGlass],
  ['openNow', ({ openNow }) => openNow],
];

const PEOPLE: Columns<PersonRightDto> = [
  ['userId', ({ userId }) => userId],
  ['name', ({ name }) => name],
  ['email', ({ email }) => email],
  ['status', ({ status }) => status],
  ...TERMS,
];

const RESOURCES: Columns<ResourceRightDto> = [
  ['resourceId', ({ resourceId }) => resourceId],
  ['name', ({ name }) => name],
  ['provider', ({ provider }) => provider],
  ['isActive', ({ isActive }) => isActive],
  [
    'labels',
    ({ labels }) =>
      Object.entries(labels)
        .map((label) => label.join('='))
        .join('; '),
  ],
  ...TERMS,
];

export const peopleCsv = csvOf(PEOPLE);
export const resourcesCsv = csvOf(RESOURCES);
