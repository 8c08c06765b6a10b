import type { OidcTrustRow } from '#tenant-store';
import { claimOf, isAllowed } from './conditions';
import { EVENTS_OF_STRANGERS_TEXT, isEventOfStrangers } from './presets';

/** One check of an ID token. All of them must be ok. */
export interface TokenCheck {
  /** name of a claim, of a header parameter, or `token`, `signature`, `trust` */
  readonly claim: string;
  readonly wanted: string;
  /** null: absent */
  readonly found: string | null;
  readonly ok: boolean;
}

const MAX_TEXT = 300;

/** @param found any value of a token */
export const checked = (claim: string, wanted: string, found: unknown, ok: boolean): TokenCheck => ({
  claim,
  wanted: shortened(wanted),
  found: found === undefined ? null : shortened(typeof found === 'string' ? found : JSON.stringify(found)),
  ok,
});

// a lone surrogate, from the token or from cutting, is not well-formed text
const shortened = (text: string): string => {
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  return Buffer.from(cut, 'utf8').toString('utf8').replaceAll('\0', '\uFFFD');
};

type Claims = Readonly<Record<string, unknown>>;
type Trust = Pick<OidcTrustRow, 'preset' | 'conditions' | 'isEnabled' | 'isServiceUserActive'>;

export function trustChecks(trust: Trust, claims: Claims): TokenCheck[] {
  return [
    stateCheck(trust),
    ...Object.keys(trust.conditions)
      .toSorted()
      .map((claim) => conditionCheck(claim, trust.conditions[claim]!, claimOf(claims, claim))),
    ...eventCheck(trust, claims),
  ];
}

const conditionCheck = (claim: string, allowed: readonly string[], found: unknown): TokenCheck =>
  checked(claim, allowed.join(' or '), found, isAllowed(claim, allowed, found));

function stateCheck({ isEnabled, isServiceUserActive }: Trust): TokenCheck {
  const state = !isEnabled ? 'disabled' : isServiceUserActive ? 'enabled' : 'its service user is not active';
  return checked('trust', 'enabled', state, isEnabled && isServiceUserActive);
}

function eventCheck({ preset, conditions }: Trust, claims: Claims): TokenCheck[] {
  if (preset !== 'GITHUB' || Object.hasOwn(conditions, 'event_name')) return [];
  const event = claimOf(claims, 'event_name');
  return [checked('event_name', EVENTS_OF_STRANGERS_TEXT, event, !isEventOfStrangers(event))];
}

/** The first check that failed. */
export const failureIn = (checks: readonly TokenCheck[]): TokenCheck | undefined =>
  checks.find(({ ok }) => !ok);
