import { setTimeout as delay } from 'node:timers/promises';
import {
  type Api,
  ApiFailure,
  bodyOf,
  definedFields,
  type Schemas,
  type SessionRequest,
  shortId,
  type StartOptions,
  Unreachable,
  WAIT_SECONDS,
} from '#client';
import { CommandFailure, EXIT } from '../exit-codes';
import type { Output } from '../output';
import { askCode } from '../terminal/prompts';
import { timeText } from '../terminal/times';

export type AccessRequest = Schemas['AccessRequestDto'];

/** Why access is wanted, for those who decide and for the record. */
export interface Grounds {
  readonly reason?: string;
  readonly ticket?: string;
  /** without approval, and reviewed afterwards */
  readonly breakGlass?: boolean;
}

/** The fields of a request for what was given. */
export const groundsOf = ({ reason, ticket, breakGlass }: Grounds): Grounds => ({
  ...definedFields({ reason, ticket }),
  ...(breakGlass ? { breakGlass } : {}),
});

const PAUSE_MS = 5_000;
const CANCEL_TIMEOUT_MS = 10_000;

export interface Approval {
  readonly api: Api;
  readonly output: Output;
  /** aborted: what was asked for is cancelled */
  readonly signal: AbortSignal;
  /** of the session that it is for; left out: as the server says */
  readonly hours?: number | undefined;
}

/** Gets what a start lacks: the second factor for one without approval, or the approval, which this waits for. */
export const asking =
  (approval: Approval): NonNullable<StartOptions['onDenied']> =>
  async (denial, request) => {
    if (denial.code === 'Second factor required') return approval.output.forPerson(stepUp(approval.api));
    if (!needsApproval(denial)) return null;
    const asked = await askFor(approval.api, denial, { ...request, durationHours: approval.hours });
    return { accessRequestId: await approval.output.forPerson(waitForApproval(asked, approval)) };
  };

export const needsApproval = ({ code }: ApiFailure): boolean => code === 'Approval required';

/** Asks for a code of the second factor, for what needs it again. @throws CommandFailure without a terminal */
export async function stepUp(api: Api): Promise<object> {
  const fix = `before it: drawbridge api POST /auth/step-up -d '{"code":"123456"}'`;
  const send = (code: string) => bodyOf(api.POST('/api/v1/auth/step-up', { body: { code } }));
  await askCode('Authenticator or recovery code', fix, send);
  return {};
}

/** Asks those who decide for what a start was denied. @throws CommandFailure without a reason */
export function askFor(
  api: Api,
  denial: ApiFailure,
  { reason, ticket, durationHours, resourceIds, resourceNames, ipv4Address, ipv6Address }: Wanted,
): Promise<AccessRequest> {
  if (reason === undefined) throw new CommandFailure(EXIT.denied, denial.message, 'add --reason TEXT to ask');
  const wanted = { ticket, durationHours, resourceIds, resourceNames, ipv4Address, ipv6Address };
  // JSON leaves out what is undefined
  const body = { reason, ...wanted } as Schemas['CreateAccessRequestDto'];
  return bodyOf(api.POST('/api/v1/access-requests', { body }));
}

type Wanted = Omit<SessionRequest, 'durationHours'> & { readonly durationHours?: number | undefined };

/** Waits for the decision, and says what it waits for. @returns the id @throws CommandFailure when it is not approved */
async function waitForApproval(asked: AccessRequest, { api, output, signal }: Approval): Promise<string> {
  const { id, decideBy } = asked;
  output.note(
    `access request ${shortId(id)} waits for ${lackingText(asked)}, until ${timeText(decideBy)}: ` +
      `drawbridge approve ${shortId(id)}; Ctrl-C cancels it`,
  );
  try {
    for (;;) {
      const request = await readWhenDecided(api, id, WAIT_SECONDS, signal).catch(pauseAfter(signal));
      if (!request || request.status === 'WAITING') continue;
      requireApproved(request);
      output.note(`approved by ${decidersOf(request)}`);
      signal.throwIfAborted();
      return id;
    }
  } catch (error) {
    if (signal.aborted) await cancel(api, id, output);
    signal.throwIfAborted();
    throw error;
  }
}

/** A server that is away meanwhile decides nothing. */
const pauseAfter =
  (signal: AbortSignal) =>
  async (error: unknown): Promise<null> => {
    const isPassing = error instanceof Unreachable || (error instanceof ApiFailure && error.isTemporary);
    if (signal.aborted || !isPassing) throw error;
    await delay(PAUSE_MS, undefined, { signal });
    return null;
  };

/** The request, once it is decided or the time is over. */
export const readWhenDecided = (
  api: Api,
  id: string,
  waitSeconds: number,
  signal?: AbortSignal,
): Promise<AccessRequest> => {
  const params = { path: { id }, query: { waitSeconds } };
  return bodyOf(api.GET('/api/v1/access-requests/{id}', { params, ...(signal ? { signal } : {}) }));
};

/** @throws CommandFailure that says who has denied it */
export function requireApproved(request: AccessRequest): void {
  const { status } = request;
  if (status === 'APPROVED') return;
  const who = decidersOf(request, 'DENIED');
  const message = `The access request is ${status}${who === '' ? '' : ` by ${who}`}`;
  throw new CommandFailure(EXIT.denied, message);
}

async function cancel(api: Api, id: string, output: Output): Promise<void> {
  try {
    await cancelRequest(api, id);
    output.note(`access request ${shortId(id)} is cancelled`);
  } catch (error) {
    output.note(`access request ${shortId(id)} could not be cancelled: ${String(error)}`);
  }
}

export const cancelRequest = (api: Api, id: string): Promise<AccessRequest> =>
  bodyOf(
    api.POST('/api/v1/access-requests/{id}/cancel', {
      params: { path: { id } },
      signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS),
    }),
  );

/** What it still needs, and of whom. */
export function lackingText({ approvals, approvalsNeeded, approverRoles }: AccessRequest): string {
  const lacking = approvalsNeeded - approvals;
  const roles = approverRoles.map(({ name }) => `"${name}"`).join(' or ');
  const who = roles === '' ? 'other administrators' : `other members of ${roles}`;
  return `${lacking === 1 ? 'an approval' : `${lacking} approvals`} by ${who}`;
}

/** Who decided so, with their notes. */
const decidersOf = ({ decisions }: AccessRequest, as: Schemas['AccessDecision'] = 'APPROVED'): string =>
  decisions
    .filter(({ decision }) => decision === as)
    .map(deciderOf)
    .join(', ');

export const deciderOf = ({ userEmail, note }: Schemas['AccessDecisionDto']): string =>
  note === null ? userEmail : `${userEmail}: ${note}`;
