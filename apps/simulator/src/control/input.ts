import { readJson } from '../read-json';

/** Invalid input to the control interface: the field, the reason and the allowed values. */
export class BadInput extends Error {
  constructor(
    readonly field: string,
    message: string,
    readonly allowed: readonly string[] = [],
  ) {
    super(allowed.length === 0 ? message : `${message}: ${allowed.join(', ')}`);
    this.name = 'BadInput';
  }
}

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields of a JSON body or a query string; each reader throws BadInput for an invalid value. */
export class Input {
  private constructor(private readonly fields: ReadonlyMap<string, unknown>) {}

  /** @param names the allowed fields */
  static fromJson(body: string, names: readonly string[]): Input {
    const value = readJson(body);
    if (value === undefined) throw new BadInput('body', 'The body must be JSON');
    if (!isObject(value)) {
      throw new BadInput('body', 'The body must be a JSON object with the fields', names);
    }
    return new Input(new Map(onlyKnown(Object.entries(value), names)));
  }

  /** @param names the allowed parameters; decimal texts are read as numbers */
  static fromQuery(query: URLSearchParams, names: readonly string[]): Input {
    const entries = [...query].filter(([, value]) => value !== '');
    return new Input(
      new Map(
        onlyKnown(entries, names).map(([name, value]) => [
          name,
          /^-?\d+$/.test(value) ? Number(value) : value,
        ]),
      ),
    );
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** A text that must be one of the allowed ones. */
  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw new BadInput(name, `${name} must be one of`, allowed);
    return found;
  }

  text(name: string): string | undefined {
    const value = this.get(name);
    if (value === undefined || typeof value === 'string') return value;
    throw new BadInput(name, `${name} must be a text`);
  }

  flag(name: string): boolean | undefined {
    const value = this.get(name);
    if (value === undefined || typeof value === 'boolean') return value;
    throw new BadInput(name, `${name} must be true or false`);
  }

  texts(name: string): string[] | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value;
    throw new BadInput(name, `${name} must be a list of texts`);
  }

  /** A text that must not be empty. */
  filledText(name: string): string | undefined {
    const text = this.text(name);
    if (text === '') throw new BadInput(name, `${name} must not be empty`);
    return text;
  }

  object(name: string): object | undefined {
    const value = this.get(name);
    if (value === undefined || isObject(value)) return value;
    throw new BadInput(name, `${name} must be an object`);
  }

  objects(name: string): object[] | undefined {
    const value = this.get(name);
    if (value === undefined || (Array.isArray(value) && value.every(isObject))) return value;
    throw new BadInput(name, `${name} must be a list of objects`);
  }

  /** A list of texts, each of which must be one of the allowed ones. */
  someOf(name: string, allowed: readonly string[]): string[] | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((text) => allowed.includes(text as string)))
      return value as string[];
    throw new BadInput(name, `${name} must be a list of some of`, allowed);
  }

  integer(name: string, lowest: number, highest: number): number | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (Number.isInteger(value) && Number(value) >= lowest && Number(value) <= highest) return Number(value);
    throw new BadInput(name, `${name} must be a whole number from ${lowest} to ${highest}`);
  }

  private get(name: string): unknown {
    return this.fields.get(name) ?? undefined;
  }
}

/** @throws BadInput when a required field is missing */
export function required<T>(name: string, value: T | undefined, allowed: readonly string[] = []): T {
  if (value !== undefined) return value;
  throw new BadInput(name, allowed.length === 0 ? `${name} is missing` : `${name} must be one of`, allowed);
}

function onlyKnown<T>(entries: readonly [string, T][], names: readonly string[]): [string, T][] {
  const unknown = entries.find(([name]) => !names.includes(name));
  if (unknown) throw new BadInput(unknown[0], `${unknown[0]} is not known here; the fields are`, names);
  return [...entries];
}
