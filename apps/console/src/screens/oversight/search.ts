import type { Schemas } from '../../api';
import { isEventType } from './audit-words';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const isId = (text: string): boolean => UUID.test(text);
const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));
const isText = (text: string): boolean => text.trim() !== '' && text.length <= 200;

/** What each filter in an address must look like; what does not is ignored. */
const CHECKS = {
  userId: isId,
  resourceId: isId,
  address: isText,
  actorEmail: isText,
  eventType: isEventType,
  at: isTime,
  from: isTime,
  to: isTime,
} as const;

/** An address that names only digits is read as a number. */
const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

type Filter = keyof typeof CHECKS;
export type Search<Field extends Filter> = {
  [F in Field]?: F extends 'eventType' ? Schemas['AuditEventType'] : string;
} & { page?: number };

/** Reads filters and the page from a screen's address. */
export const searchOf =
  <Field extends Filter>(...fields: readonly Field[]) =>
  (given: Record<string, unknown>): Search<Field> => {
    const read = fields.filter((field) => CHECKS[field](textOf(given[field])));
    const { page } = given;
    const isPage = typeof page === 'number' && Number.isSafeInteger(page) && page > 0;
    const filters = Object.fromEntries(read.map((field) => [field, textOf(given[field])]));
    // checked above
    return { ...filters, ...(isPage ? { page } : {}) } as Search<Field>;
  };

export type Change<Given> = { readonly [Field in keyof Given]?: Given[Field] | undefined };

/** Filters with changes; undefined takes one away. */
export const changed = <Given extends object>(search: Given, change: Change<Given>): Given =>
  // what is undefined may be absent
  Object.fromEntries(
    Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined),
  ) as Given;

/** A time as a field of type `datetime-local` has it. */
export function toLocalField(at: string | undefined): string {
  if (at === undefined) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The time that was entered into a field of type `datetime-local`; undefined: none. */
export const fromLocalField = (entered: string): string | undefined =>
  isTime(entered) ? new Date(entered).toISOString() : undefined;
