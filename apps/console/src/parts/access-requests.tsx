import { api, type Schemas } from '../api';
import { Badge, ConfirmButton, localTime, TextField, Time, unbroken, type Tone } from '../ui';
import { defined } from './search';
import { Lines, Reason, Ticket } from './words';

export type AccessRequest = Schemas['AccessRequestDto'];

export const STATUS: Readonly<Record<AccessRequest['status'], readonly [text: string, tone: Tone]>> = {
  WAITING: ['Waiting', 'busy'],
  APPROVED: ['Approved', 'good'],
  DENIED: ['Denied', 'bad'],
  EXPIRED: ['Not decided in time', 'warn'],
  CANCELLED: ['Cancelled', 'neutral'],
  USED: ['Used', 'neutral'],
  LAPSED: ['Not used', 'warn'],
};

/** In a word; of a session without approval, whether it was reviewed. */
export function RequestStatus({ of: { status, breakGlass, endedAt } }: { of: AccessRequest }) {
  const [text, tone] = breakGlass
    ? endedAt === null
      ? (['To be reviewed', 'warn'] as const)
      : (['Reviewed', 'good'] as const)
    : STATUS[status];
  return <Badge tone={tone}>{text}</Badge>;
}

export const isWaiting = ({ status }: AccessRequest): boolean => status === 'WAITING';
export const namesOf = ({ resources }: AccessRequest): string => resources.map(({ name }) => name).join(', ');

const isAvailable = ({ unavailableResourceIds }: AccessRequest, id: string): boolean =>
  !unavailableResourceIds.includes(id);
/** Whether an approval would open anything. */
export const opensAnything = (request: AccessRequest): boolean =>
  request.unavailableResourceIds.length < request.resources.length;
/** What a session can be started on. */
export const availableOf = (request: AccessRequest): string[] =>
  request.resources.filter(({ id }) => isAvailable(request, id)).map(({ id }) => id);

/** What it opens, and what of that it would not open now. */
export function Opens({ of: request }: { of: AccessRequest }) {
  const names = request.resources.filter(({ id }) => !isAvailable(request, id)).map(({ name }) => name);
  return (
    <Lines>
      <span>{namesOf(request)}</span>
      {names.length === 0 ? null : (
        <Reason isBad>
          {opensAnything(request) ? `${names.join(', ')} cannot` : 'Cannot'} be opened now: no role of the
          requester reaches it any more, or there is a lockdown.
        </Reason>
      )}
    </Lines>
  );
}

export const askedFrom = ({ ipv4Address, ipv6Address }: AccessRequest): string =>
  [ipv4Address, ipv6Address].filter((address) => address !== null).join(', ');

/** "1 of 2 approvals, by other members of DBA" */
export function lackingOf({ approvals, approvalsNeeded, approverRoles }: AccessRequest): string {
  const names = approverRoles.map(({ name }) => name).join(' or ');
  const who = names === '' ? 'other administrators' : `other members of ${names}`;
  return `${approvals} of ${approvalsNeeded} approval${approvalsNeeded === 1 ? '' : 's'}, by ${who}`;
}

/** Who decided what, when, and their notes. */
export const Decisions = ({ of: { decisions } }: { of: AccessRequest }) => (
  <Lines>
    {decisions.map(({ userId, userEmail, decision, note, decidedAt }) => (
      <span key={userId}>
        {decision.charAt(0) + decision.slice(1).toLowerCase()} by {unbroken(userEmail)},{' '}
        <Time at={decidedAt} />
        {note === null ? '' : `: ${note}`}
      </span>
    ))}
  </Lines>
);

const DECISIONS = {
  approve: [
    'Approve',
    'primary',
    'It may be opened within an hour, and its time begins then. You can withdraw the approval until it is opened.',
  ],
  deny: ['Deny', 'danger', 'Nothing is opened. It may be asked for again.'],
  review: ['Review', 'primary', 'You have seen that it happened, and why. It does not end the session.'],
} as const;

/** What a decision has done. */
function announcementOf(request: AccessRequest, as: keyof typeof DECISIONS): string {
  const { userName, status, useBy, approvals, approvalsNeeded } = request;
  const what = `${userName}, ${namesOf(request)}`;
  if (as === 'review') return `Reviewed: ${what}.`;
  if (as === 'deny') return `Denied: ${what}. Nothing is opened.`;
  return status === 'APPROVED' && useBy !== null
    ? `Approved: ${what}. It may be opened until ${localTime(useBy)}.`
    : `Your approval counts: ${what}. ${approvals} of ${approvalsNeeded} are there.`;
}

/** Decides on what another person asks for, or has opened without approval. */
export function DecideButton({ request, as }: { request: AccessRequest; as: keyof typeof DECISIONS }) {
  const [label, kind, effect] = DECISIONS[as];
  const params = { path: { id: request.id } };
  return (
    <ConfirmButton
      label={label}
      kind={kind}
      title={`${label} the access of ${request.userName}?`}
      act={(entered) => {
        const path = `/api/v1/access-requests/{id}/${as}` as const;
        return api.POST(path, { params, body: defined({ note: entered.optional('note') }) });
      }}
      announcement={({ data }) => announcementOf(data!, as)}
    >
      <p>
        To {namesOf(request)} from {unbroken(askedFrom(request))}, for {request.durationHours} h:{' '}
        {request.reason}
        {request.ticket === null ? '' : ' · '}
        {request.ticket === null ? null : <Ticket>{request.ticket}</Ticket>}
      </p>
      <p>{effect}</p>
      <TextField name="note" label="Note" required={false} maxLength={500} />
    </ConfirmButton>
  );
}
