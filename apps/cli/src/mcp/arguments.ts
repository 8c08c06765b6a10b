import { usageFailure } from '../exit-codes';
import { TOOLS } from './tools';

/** What a client gave to a tool. */
export type Given = Readonly<Record<string, unknown>>;

export const MINUTES_IN_HOUR = 60;
const MAX_RESOURCES = 20;
const DEFAULT_WAIT_SECONDS = 30;
const MAX_WAIT_SECONDS = 60;

/** @throws CommandFailure for an argument that the tool has not: what it means would be left out in silence */
export function requireKnown(tool: string, given: Given): void {
  const known = Object.keys(TOOLS.find(({ name }) => name === tool)?.inputSchema.properties ?? {});
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const names = unknown.map((name) => `"${name}"`).join(', ');
  throw usageFailure(`There is no argument ${names}: ${tool} takes ${known.join(', ') || 'none'}`);
}

/** @throws CommandFailure */
export function minutesOf({ hours, minutes }: Given, maxHours: number): number {
  if (minutes !== undefined && hours !== undefined) throw usageFailure('Give minutes or hours, not both');
  const maxMinutes = maxHours * MINUTES_IN_HOUR;
  if (minutes !== undefined) {
    if (isWhole(minutes, maxMinutes)) return minutes;
    throw usageFailure(`minutes must be a whole number from 1 to ${maxMinutes}`);
  }
  if (isWhole(hours ?? 1, maxHours)) return Number(hours ?? 1) * MINUTES_IN_HOUR;
  throw usageFailure(`hours must be a whole number from 1 to ${maxHours}`);
}

/** @throws CommandFailure */
export function namesOf(resources: unknown): string[] {
  if (isTexts(resources)) return resources;
  throw usageFailure(`resources must be a list of 1 to ${MAX_RESOURCES} names or ids`);
}

/** @throws CommandFailure */
export function reasonOf(reason: unknown): string | undefined {
  if (reason === undefined || typeof reason === 'string') return reason;
  throw usageFailure('reason must be a text');
}

/** @throws CommandFailure */
export function secondsOf(seconds: unknown = DEFAULT_WAIT_SECONDS): number {
  if (isWhole(seconds, MAX_WAIT_SECONDS)) return seconds;
  throw usageFailure(`seconds must be 1 to ${MAX_WAIT_SECONDS}`);
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MAX_RESOURCES &&
  value.every((item) => typeof item === 'string' && item !== '');

const isWhole = (value: unknown, maximum: number): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maximum;
