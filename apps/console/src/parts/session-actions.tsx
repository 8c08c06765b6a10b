import { useState } from 'react';
import { api, asFailure, untilAnswered, type Schemas } from '../api';
import { Action, ConfirmButton, FormButton, localTime, TextField, unbroken } from '../ui';
import { availableOf, type AccessRequest } from './access-requests';
import { addressesOf, isLive, resourcesOf, type Session } from './sessions';
import { inShort } from './words';

/** Ends once the outcome is there; what takes longer, or has no answer, is polled as everything is. */
const waitUntilSettled = (id: string): Promise<unknown> =>
  api
    .GET('/api/v1/sessions/{id}', { params: { path: { id }, query: { waitSeconds: 5 } } })
    .catch(() => undefined);

type Body = Schemas['StartSessionDto'];

/** Starts a session, and ends with its outcome. @param onStarted shows it as soon as it is there */
export async function opened(body: Body, onStarted: (id: string) => void): Promise<void> {
  const { id } = (await api.POST('/api/v1/sessions', { body })).data!;
  onStarted(id);
  await waitUntilSettled(id);
}

/** The same, also beside a session of the same address: `holder` tells them apart then. */
export async function openedBeside(
  body: Body,
  holder: string,
  onStarted: (id: string) => void,
): Promise<void> {
  await opened(body, onStarted).catch((error: unknown) => {
    if (asFailure(error).status !== 409) throw error;
    return opened({ ...body, holder }, onStarted);
  });
}

interface UseRequestProps {
  readonly request: AccessRequest;
  readonly onStarted: (session: string) => void;
}

/** Starts what was approved, with one click: without what a role no longer reaches. */
export const UseRequest = ({ request, onStarted }: UseRequestProps) => (
  <Action
    label="Let me in"
    kind="primary"
    busy="Opening…"
    announcement={null}
    act={() => {
      const body = { accessRequestId: request.id, resourceIds: availableOf(request) };
      return openedBeside(body, `request ${request.id.slice(0, 8)}`, onStarted);
    }}
  />
);

/** More time for a session. */
const ExtendButton = ({ session: { id, expiresAt } }: { readonly session: Session }) => (
  <FormButton
    label="Extend"
    title="Extend this access"
    submit="Extend"
    send={(entered) => {
      const body = { additionalHours: entered.number('additionalHours') };
      return api.POST('/api/v1/sessions/{id}/extend', { params: { path: { id } }, body });
    }}
    announcement={({ data }) => `Extended: open until ${localTime(data!.expiresAt)}.`}
  >
    <FurtherHours expiresAt={expiresAt} />
  </FormButton>
);

const HOUR_MS = 3_600_000;

/** The field `additionalHours`, with what they would do. */
function FurtherHours({ expiresAt }: { readonly expiresAt: string }) {
  const [hours, setHours] = useState('1');
  const until = new Date(Date.parse(expiresAt) + Number(hours) * HOUR_MS);
  return (
    <TextField
      name="additionalHours"
      label="Further hours"
      type="number"
      min={1}
      step={1}
      value={hours}
      onChange={({ target }) => setHours(target.value)}
      help={
        Number.isNaN(until.getTime())
          ? undefined
          : `Then it is open until ${localTime(until.toISOString())}, instead of ${localTime(expiresAt)}.`
      }
    />
  );
}

interface StopProps {
  readonly session: Session;
  readonly onStopped?: (id: string) => void;
}

/** Stops a session: it is over when that was answered, and otherwise at its own end. */
async function stopSession(session: Session, as: 'admin/' | ''): Promise<void> {
  const { id, userName, expiresAt } = session;
  const params = { path: { id } };
  const ending = {
    what: `Stop the access of ${userName} from ${addressesOf(session).join(' and ')}`,
    // also when its program goes on renewing it
    until: expiresAt,
    meanwhile: `The access ends at ${localTime(expiresAt)} at the latest.`,
  };
  await untilAnswered(ending, async (signal) => {
    await api
      .POST(`/api/v1/sessions/${as}{id}/stop` as const, { params, signal })
      .catch(async (error: unknown) => {
        const { data } = await api.GET('/api/v1/sessions/{id}', { params, signal });
        // it was stopped by a try before, or by something else
        if (isLive(data!)) throw error;
      });
  });
  await waitUntilSettled(id);
}

/** Ends one's own session: at once, unless that uses up what others have approved. */
function StopAction({ session, onStopped }: StopProps) {
  const stop = async (): Promise<void> => {
    onStopped?.(session.id);
    await stopSession(session, '');
  };
  if (session.accessRequestId === null)
    return <Action label="Stop" kind="danger" busy="Closing…" announcement={null} act={stop} />;
  return (
    <ConfirmButton label="Stop" title="Stop this access?" confirm="Stop it" act={stop}>
      <p>
        {session.breakGlass
          ? 'To open it again, you need an approval or an emergency again.'
          : 'The approval is used up: to open it again, you have to ask again.'}
      </p>
    </ConfirmButton>
  );
}

/** Ends the session of another user, as an administrator. */
export function StopOtherButton({ session }: { readonly session: Session }) {
  const { userName } = session;
  return (
    <ConfirmButton
      label="Stop"
      title={`Stop the access of ${userName}?`}
      confirm="Stop it"
      act={() => stopSession(session, 'admin/')}
    >
      <p>
        This closes {unbroken(addressesOf(session).join(' and '))} on{' '}
        {inShort(resourcesOf(session).map(({ name }) => name))}, unless something else keeps it open.
      </p>
    </ConfirmButton>
  );
}

/** What can be done with a session that holds access. */
export function SessionActions({ isOwn, ...given }: StopProps & { readonly isOwn: boolean }) {
  if (!isLive(given.session)) return null;
  if (!isOwn) return <StopOtherButton session={given.session} />;
  return (
    <>
      {/* what others approved, or will review, is never extended */}
      {given.session.accessRequestId === null ? <ExtendButton session={given.session} /> : null}
      <StopAction {...given} />
    </>
  );
}
