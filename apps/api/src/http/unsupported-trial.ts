import { invalidField, type ApiError } from '../errors';

/** What asks to change nothing, and to show what would happen: without separators, in lower case. */
const TRIALS: ReadonlySet<string> = new Set(['dryrun', 'simulate', 'preview', 'whatif', 'validateonly']);
/** Values that do not ask for it. Every other one does: `true`, `1`, `All`, and a parameter without a value. */
const DECLINING: ReadonlySet<unknown> = new Set([
  false,
  0,
  null,
  undefined,
  'false',
  '0',
  'no',
  'off',
  'none',
]);

/**
 * Unknown fields are ignored, but not those that ask for a trial: the request would change what its sender meant to try.
 * @param supported names that the request may have
 * @returns the refusal, null when nothing asks for one
 */
export function trialRefusal(supported: readonly string[], ...given: readonly unknown[]): ApiError | null {
  for (const fields of given) {
    if (typeof fields !== 'object' || fields === null) continue;
    const name = Object.keys(fields).find(
      (key) => isTrial(key) && !supported.includes(key) && asks((fields as Record<string, unknown>)[key]),
    );
    if (name === undefined) continue;
    const message = `is not supported: the request would change what it says. Send it without ${name} to do so`;
    return invalidField(name, message);
  }
  return null;
}

const isTrial = (name: string): boolean => TRIALS.has(name.toLowerCase().replaceAll(/[^a-z]/g, ''));

/** A parameter that is given twice asks when one of its values does. */
const asks = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length === 0 || value.some(asks)
    : !DECLINING.has(typeof value === 'string' ? value.trim().toLowerCase() : value);
