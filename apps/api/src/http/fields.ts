import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsEmail,
  IsIn,
  IsInt,
  IsISO8601,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { hiddenCharacters } from '#rules';
import { checkedBy } from './checked-by';
import {
  asEmail,
  asId,
  composed,
  HasNoHiddenCharacters,
  HasOnlyVisibleCharacters,
  trimmed,
} from './text-fields';

/** What a field of a request may hold: its checks, of which the first that fails is shown, and its documentation. */
export interface Kind {
  readonly checks: readonly PropertyDecorator[];
  readonly doc: object;
}

const field = (kind: Kind, presence: readonly PropertyDecorator[], doc: object): PropertyDecorator =>
  applyDecorators(
    ...kind.checks,
    ...presence,
    ApiProperty({ required: presence.length === 0, ...kind.doc, ...doc }),
  );

/** A field that must be there. */
export const Required = (kind: Kind, doc: object = {}): PropertyDecorator => field(kind, [], doc);

/** A field that may be left out, or null. */
export const Optional = (kind: Kind, doc: object = {}): PropertyDecorator => field(kind, [IsOptional()], doc);

/** A field that may be left out, and is not null. */
export const MayBeAbsent = (kind: Kind, doc: object = {}): PropertyDecorator =>
  field(kind, [ValidateIf((_object: unknown, value: unknown) => value !== undefined)], doc);

/** A field that may be left out; null is the same. */
export const NullAsAbsent = (kind: Kind, doc: object = {}): PropertyDecorator =>
  field(kind, [Transform(({ value }: { value: unknown }) => value ?? undefined), IsOptional()], doc);

/**
 * Property decorator: a field that an answer shows, or that belongs elsewhere. Ignored, it would change less than the caller
 * means. Null and an empty list say nothing.
 * @param hint where it belongs; follows its name
 */
export const Misplaced = (hint: string): PropertyDecorator =>
  checkedBy('misplaced', (value) =>
    (value ?? null) === null || (Array.isArray(value) && value.length === 0) ? null : hint,
  );

const hint = (message: string): { message: string } => ({ message });

const each = (message: string): { each: true; message: string } => ({ each: true, message });

/** Property decorator: a text has at most so many characters. */
export const AtMost = (maximum: number): PropertyDecorator =>
  MaxLength(maximum, hint(`must be at most ${maximum} characters`));

/** Any text that passes `checks`, in NFC. */
export const string = (...checks: readonly PropertyDecorator[]): Kind => ({
  checks: [IsString(hint('must be a string')), ...checks, composed()],
  doc: { type: String },
});

/** A secret or a token, of which nothing is assumed: passwords are composed where they are hashed. */
export const opaque = (minimum: number, maximum: number): Kind => ({
  checks: [
    IsString(hint('must be a text')),
    Length(minimum, maximum, hint(`must have ${minimum} to ${maximum} characters`)),
  ],
  doc: { type: String },
});

/** A text that is not blank, on one line, trimmed. @param maximum characters */
export const line = (maximum: number): Kind => ({
  checks: [
    IsString(hint('must be a string')),
    AtMost(maximum),
    HasNoHiddenCharacters(),
    IsNotEmpty(hint('must not be empty')),
    trimmed(),
    composed(),
  ],
  doc: { type: String, maxLength: maximum },
});

const LINE_CHARACTERS = /[\t\r\n]/g;

/** A text that may have lines and tabs. @param maximum characters */
export const text = (maximum: number): Kind => ({
  checks: [
    IsString(hint('must be a string')),
    AtMost(maximum),
    HasNoHiddenCharacters('', (value) => hiddenCharacters(value.replaceAll(LINE_CHARACTERS, ' '))),
    composed(),
  ],
  doc: { type: String, maxLength: maximum },
});

export const email = (): Kind => ({
  checks: [IsEmail({}, hint('must be a well-formed e-mail address')), HasOnlyVisibleCharacters(), asEmail()],
  doc: { format: 'email' },
});

/** An id, in lower case as it is stored. */
export const id = (): Kind => ({
  checks: [IsUUID(undefined, hint('must be a UUID')), asId()],
  doc: { type: String, format: 'uuid' },
});

/** @param what the elements are, in plural */
export const ids = (maximum: number, what: string): Kind => ({
  checks: [
    IsArray(hint('must be an array of UUIDs')),
    ArrayMaxSize(maximum, hint(`must hold at most ${maximum} ${what}`)),
    IsUUID(undefined, each('must hold only UUIDs')),
    asId(),
  ],
  doc: { type: [String], format: 'uuid', maxItems: maximum },
});

export const flag = (): Kind => ({
  checks: [IsBoolean(hint('must be true or false'))],
  doc: { type: Boolean },
});

/** true or false, as text in a query. */
export const queryFlag = (): Kind => ({
  checks: [
    ...flag().checks,
    Transform(({ value }: { value: unknown }) =>
      value === 'true' ? true : value === 'false' ? false : value,
    ),
  ],
  doc: { type: Boolean },
});

/** @param enumName its name in the OpenAPI document, where several fields have it */
export const oneOf = (values: readonly string[], enumName?: string): Kind => ({
  checks: [IsIn(values, hint(`must be one of ${values.join(', ')}`))],
  doc: { enum: values, ...(enumName !== undefined && { enumName }) },
});

/** Some of these values, as a repeated query parameter. */
export const anyOf = (values: readonly string[], enumName?: string): Kind => ({
  checks: [
    IsIn(values, each(`must be one of ${values.join(', ')}`)),
    Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? (value as unknown[]) : [value])),
  ],
  doc: { enum: values, isArray: true, ...(enumName !== undefined && { enumName }) },
});

/** Texts as a repeated query parameter, at least one. @param what they are, in plural */
export const names = (maximum: number, what: string): Kind => ({
  checks: [
    IsString(each('must be a text')),
    MaxLength(100, each('must have at most 100 characters')),
    ArrayMaxSize(maximum, hint(`must hold at most ${maximum} ${what}`)),
    Transform(({ value }: { value: unknown }) =>
      value === undefined || Array.isArray(value) ? (value as unknown) : [value],
    ),
  ],
  doc: { type: [String] },
});

/** At least one of these scopes, in a JSON array. @param refusal of any other one */
export const someScopes = (values: readonly string[], enumName: string, refusal?: string): Kind => ({
  checks: [
    IsArray(hint('must be an array of scopes')),
    ArrayMaxSize(100, hint('must hold at most 100 scopes')),
    IsIn(values, each(refusal ?? `must hold only ${values.join(', ')}`)),
    ArrayNotEmpty(hint('must hold at least one scope')),
  ],
  doc: { enum: values, isArray: true, enumName },
});

/** Objects in a JSON array, each checked by its class. @param what they are, in plural */
export const listOf = (type: new () => object, maximum: number, what: string): Kind => ({
  checks: [
    IsArray(hint(`must be an array of ${what}`)),
    ArrayMaxSize(maximum, hint(`must hold at most ${maximum} entries`)),
    Type(() => type),
    ValidateNested(each(`must hold ${what}`)),
    IsObject(each(`must hold ${what}`)), // a list in a list is nested, too
  ],
  doc: { type: [type], maxItems: maximum },
});

/** @param unit completes the message for other values: `of hours` */
export const wholeNumber = (minimum: number, maximum = Infinity, unit = ''): Kind => ({
  checks: [
    IsInt(hint(`must be a whole number${unit === '' ? '' : ` ${unit}`}`)),
    ...(maximum === Infinity ? [] : [Max(maximum, hint(`must be at most ${maximum}`))]),
    Min(minimum, hint(`must be at least ${minimum}`)),
  ],
  doc: { type: 'integer', minimum, ...(maximum !== Infinity && { maximum }) },
});

/** @param message for any other value */
export const integerIn = (minimum: number, maximum: number, message: string): Kind => ({
  checks: [IsInt(hint(message)), Max(maximum, hint(message)), Min(minimum, hint(message))],
  doc: { type: 'integer', minimum, maximum },
});

/** A number as text in a query. */
export const inQuery = ({ checks, doc }: Kind): Kind => ({ checks: [...checks, Type(() => Number)], doc });

const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;
const MOMENT_MESSAGE =
  'must be an ISO 8601 time, e.g. 2026-01-31T09:30:00Z or 2026-01-31 (a + of an offset is sent as %2B)';

/** A time with an offset, or a day in UTC. */
export const moment = (): Kind => ({
  checks: [IsISO8601({ strict: true }, hint(MOMENT_MESSAGE)), Matches(MOMENT, hint(MOMENT_MESSAGE))],
  doc: { type: String, example: '2026-01-31T09:30:00Z' },
});

/** Documentation of a time in a response. */
export const TIME = { type: String, format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;
