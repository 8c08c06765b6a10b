import type { IpVersion } from './address';
import type { ResourceConfig } from './rule-spec';

/**
 * What says so. PROVIDER: the target itself, or the provider's documents. CONFIG: the resource's config. DEFAULT: usual, and
 * adjustable for an account. LEARNED: the provider refused one more.
 */
export const LIMIT_SOURCES = ['PROVIDER', 'CONFIG', 'DEFAULT', 'LEARNED'] as const;
export type LimitSource = (typeof LIMIT_SOURCES)[number];

/** How many rules a target has, of those that it may have. */
export interface Room {
  /** the IP version whose rules are counted; null: both together */
  readonly family: IpVersion | null;
  readonly used: number;
  readonly limit: number;
  readonly limitFrom: LimitSource;
  /** it has more, which cannot be counted */
  readonly isAtLeast?: boolean;
  /** it is that of the resources with these fields in their config, null: without; absent: of all on the target */
  readonly config?: Readonly<Record<string, unknown>>;
  /** LEARNED: when it was, by the database's clock, ms since 1970 */
  readonly learnedAt?: number;
}

const LEARNED_FOR_MS = 24 * 3_600_000;
/** Of a limit that is certain; from then on a target needs attention. */
export const NEARLY_FULL = 0.9;

export const isCertain = ({ limitFrom }: Room): boolean => limitFrom !== 'DEFAULT';
export const isFull = ({ used, limit }: Room): boolean => used >= limit;

const familyOf = (key: string): IpVersion => (key.includes(':') ? 6 : 4);

/** The room of a resource with this config. */
export const roomOf = (room: readonly Room[], config: ResourceConfig): Room[] =>
  room.filter(({ config: given = {} }) =>
    Object.entries(given).every(([field, value]) => (config[field] ?? null) === value),
  );

/** The part of a resource's room that a rule takes one of. */
export const roomFor = (room: readonly Room[], config: ResourceConfig, key: string): Room[] =>
  roomOf(room, config).filter(({ family }) => family === null || family === familyOf(key));

/**
 * The room where the provider refused these rules as too many: it has no more than it has, unless more is certain. An empty
 * target is not full: the provider's quota is of something else.
 */
export function learnedFrom(room: readonly Room[], refused: readonly string[]): Room[] {
  const families = new Set(refused.map(familyOf));
  return room.map((one) =>
    isCertain(one) || one.used === 0 || (one.family !== null && !families.has(one.family))
      ? one
      : { ...one, limit: one.used, limitFrom: 'LEARNED' },
  );
}

/**
 * What is stored of a target's room. A learned limit is forgotten when more rules are there than it says, and after a day; any
 * limit that is exceeded is none.
 * @param before as it is stored
 * @param observed as a read shows it
 * @param now by the database's clock, ms since 1970
 */
export function rememberRoom(before: readonly Room[], observed: readonly Room[], now: number): Room[] {
  const rooms = observed.map((room): Room => {
    if (room.limitFrom === 'LEARNED') return { ...room, learnedAt: now };
    const learned = before.find(
      ({ family, limitFrom, learnedAt = 0 }) =>
        limitFrom === 'LEARNED' && family === room.family && learnedAt > now - LEARNED_FOR_MS,
    );
    if (isCertain(room) || !learned || room.used > learned.limit) return room;
    const { limit, limitFrom, learnedAt } = learned;
    return { ...room, limit, limitFrom, ...(learnedAt !== undefined && { learnedAt }) };
  });
  return rooms.filter(({ used, limit }) => used <= limit);
}

/** For people: "52 of 60 rules". */
export const roomText = ({ family, used, limit, isAtLeast = false }: Room): string =>
  `${isAtLeast ? 'at least ' : ''}${used} of ${limit} ${family === 6 ? 'IPv6 ' : ''}rules`;

/** For people, of a target of this type that has no room for a rule. */
export const fullMessage = (resourceType: string, room: Room): string => {
  const [, noun = 'target'] = /_(GROUP|LIST|SET)$/.exec(resourceType) ?? [];
  return `The ${noun.toLowerCase()} is full: ${roomText(room)}`;
};
