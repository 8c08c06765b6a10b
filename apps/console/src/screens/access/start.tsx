import { useState, type ReactNode } from 'react';
import { asFailure, Failure, useList } from '../../api';
import { labelsText } from '../../parts/labels';
import { defined } from '../../parts/search';
import { opened } from '../../parts/session-actions';
import { addressesOf, resourcesOf, type Session } from '../../parts/sessions';
import { inShort } from '../../parts/words';
import { Action, Button, Form, Loading, Muted, Notice, Picker, Row, Stack, TextField } from '../../ui';
import { unbroken } from '../../ui';
import styles from './access.module.css';
import { ownAddressFields } from './own-address';
import { PlannedStart, planStart, type Planned } from './planned';
import type { Body, Resource, StartProps } from './starting';

/** So many are opened at once without a choice, and without being asked. */
const FEW = 20;

/** A request may name so many resources. It names none to mean all. */
const MAX_NAMED = 100;

/** @param all that this person may open; null: there are others */
function resourceFields(ids: readonly string[], all: readonly Resource[] | null): Pick<Body, 'resourceIds'> {
  // by name: what was assigned since, or is not on the form, is not part of it
  if (ids.length <= MAX_NAMED) return { resourceIds: [...ids] };
  if (all?.every(({ id }) => ids.includes(id))) return {};
  const message = `A session opens at most ${MAX_NAMED} chosen resources, or all of yours; these are ${ids.length}.`;
  throw new Failure(message, 0, 'TOO_MANY_RESOURCES');
}

/** A session of this person lets in where it was before: it can follow, and keeps its end. */
export function Moved({ me, resources, onStarted, session }: StartProps & { readonly session: Session }) {
  const move = async (): Promise<void> => {
    const ids = resourcesOf(session).map(({ id }) => id);
    const { reason, ticket } = session;
    const grounds = { ...(reason === null ? {} : { reason }), ...(ticket === null ? {} : { ticket }) };
    const fields = { ...resourceFields(ids, resources), ...grounds, ...(await ownAddressFields(me)) };
    await opened({ replaces: session.id, ...fields }, onStarted);
  };
  return (
    <Notice tone="warn">
      <Row>
        <p>
          <strong>Moved?</strong> Your session lets in {unbroken(addressesOf(session).join(' and '))}. It can
          let in where you are now instead, until the same time.
        </p>
        <Action label="Let me in here" kind="primary" large busy="Opening…" announcement={null} act={move} />
      </Row>
    </Notice>
  );
}

/** The fields `reason` and `ticket`. @param of those that need a reason */
export const Grounds = ({ of }: { readonly of: readonly Resource[] }) => (
  <>
    <TextField
      name="reason"
      label="Reason"
      maxLength={500}
      help={`Needed for ${inShort(of.map(({ name }) => name))}. It is recorded with the access.`}
    />
    <TextField
      name="ticket"
      label="Ticket"
      required={false}
      maxLength={100}
      help="Where it is recorded elsewhere: a number, or an address."
    />
  </>
);

interface OpenFormProps extends StartProps {
  readonly submit: string;
  readonly busy: string;
  /** @param request what was entered, with the address */
  readonly send: (request: Body) => Promise<void>;
  /** an address has to be entered: the own one is let in already */
  readonly isOther?: boolean;
  /** these are all that this person may open */
  readonly areAll?: boolean;
  /** others approve it: they read why */
  readonly isAsked?: boolean;
  /** of many, those that are chosen at first */
  readonly initially?: readonly string[] | undefined;
}

/** Lets an address in to resources, or asks for it. Hours and grounds are those that the chosen ones allow and ask for. */
export function OpenForm({ me, resources, isOther = false, isAsked = false, ...given }: OpenFormProps) {
  const { requireDetectedAddress } = me.organization;
  const plain = resources.filter(({ needsReason }) => !needsReason);
  const [chosen, setChosen] = useState<readonly string[]>(
    given.initially ?? (plain.length > 0 ? plain : resources).map(({ id }) => id),
  );
  const [hours, setHours] = useState<string | null>(null);
  const [isReasonAsked, setReasonAsked] = useState(false);
  const shown = resources.filter(({ id }) => chosen.includes(id));
  const limits = shown.map(({ maxSessionDurationHours: most }) => most ?? me.defaultSessionHours);
  const atMost = Math.min(...(limits.length > 0 ? limits : [me.defaultSessionHours]));
  const explained = isAsked || isReasonAsked ? shown : shown.filter(({ needsReason }) => needsReason);
  const other = (
    <TextField name="address" label="Address" required={isOther} help="Of another device or place." />
  );
  return (
    <Form
      submit={
        given.initially && shown.length > 0
          ? `${given.submit} to ${inShort(shown.map(({ name }) => name))}`
          : given.submit
      }
      submitFirst={!isOther && !isAsked && explained.length === 0}
      busy={given.busy}
      alias={{ ipv4Address: 'address', ipv6Address: 'address' }}
      send={async (entered) => {
        const typed = entered.optional('address');
        const request = {
          durationHours: entered.number('durationHours'),
          ...resourceFields(chosen, given.areAll ? resources : null),
          ...(typed ? typedField(typed) : await ownAddressFields(me)),
          ...defined({ reason: entered.optional('reason'), ticket: entered.optional('ticket') }),
        };
        await given.send(request).catch((error: unknown) => {
          if (asFailure(error).fields['reason']) setReasonAsked(true);
          throw error;
        });
      }}
    >
      {explained.length > 0 ? <Grounds of={explained} /> : null}
      <div className={styles['options']}>
        <TextField
          name="durationHours"
          label="Hours"
          type="number"
          min={1}
          max={atMost}
          value={hours ?? Math.min(me.defaultSessionHours, atMost)}
          onChange={({ target }) => setHours(target.value)}
          help={`At most ${atMost}.`}
        />
        {resources.length === 1 ? (
          isAsked ? null : (
            <Muted>Opens {resources[0]!.name}.</Muted>
          )
        ) : given.initially ? (
          <details open={given.initially.length === 0}>
            <summary>Choose</summary>
            <Choice of={resources} chosen={chosen} onChange={setChosen} />
          </details>
        ) : (
          <ResourceChoice of={resources} chosen={chosen} onChange={setChosen} />
        )}
      </div>
      {requireDetectedAddress
        ? null
        : isOther
          ? other
          : inDetails(isAsked ? 'Ask from another address' : 'Let in another address', other)}
    </Form>
  );
}

interface ChoiceProps {
  readonly of: readonly Resource[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

const ResourceChoice = ({ of, ...given }: ChoiceProps) => (
  <Picker
    {...given}
    name="resourceIds"
    label="Resources"
    choices={of.map((each) => ({
      value: each.id,
      text: each.name,
      detail: [each.endpoint, labelsText(each)].filter(Boolean).join(' · '),
    }))}
  />
);

/** The same of many: all or none of them with one click. */
function Choice({ of, chosen, onChange }: ChoiceProps) {
  const [turn, setTurn] = useState(0);
  const choose = (ids: readonly string[]): void => {
    onChange(ids);
    setTurn(turn + 1);
  };
  return (
    <Stack>
      <Row>
        <Button onClick={() => choose(of.map(({ id }) => id))}>Everything ({of.length})</Button>
        <Button onClick={() => choose([])}>Nothing</Button>
      </Row>
      <ResourceChoice key={turn} of={of} chosen={chosen} onChange={onChange} />
    </Stack>
  );
}

const OPENED = { query: { status: ['ACTIVE', 'PARTIAL', 'EXPIRING', 'EXPIRED', 'CANCELLED'], size: 1 } };

/** Of many: what the newest session that opened was for. undefined: they are few; null: it is not known yet */
function useInitially(resources: readonly Resource[]): readonly string[] | null | undefined {
  const areMany = resources.length > FEW;
  const { data } = useList('/api/v1/sessions', OPENED, { enabled: areMany });
  if (!areMany || !data) return areMany ? null : undefined;
  const before = data.items.flatMap(resourcesOf).map(({ id }) => id);
  return resources.map(({ id }) => id).filter((id) => before.includes(id));
}

/** Opens what needs no approval: for the own address with one click, or for another one. @param given `isIn`: the own address is let in */
export function StartForm({ isIn, ...given }: StartProps & { isIn: boolean; areAll: boolean }) {
  const initially = useInitially(given.resources);
  const [planned, setPlanned] = useState<Planned | null>(null);
  if (initially === null) return <Loading />;
  const open = async (request: Body): Promise<void> => {
    const { length } = request.resourceIds ?? given.resources;
    if (length <= FEW) await opened(request, given.onStarted);
    else setPlanned(await planStart(request));
  };
  const form = (
    <>
      <OpenForm
        key={given.resources.map(({ id }) => id).join()}
        {...given}
        initially={initially}
        isOther={isIn}
        submit={isIn ? 'Let this address in' : 'Let me in'}
        busy="Opening…"
        send={open}
      />
      {planned ? (
        <PlannedStart {...planned} onStarted={given.onStarted} onClose={() => setPlanned(null)} />
      ) : null}
    </>
  );
  return isIn ? inDetails('Let in another address', form) : form;
}

const inDetails = (summary: string, content: ReactNode): ReactNode => (
  <details>
    <summary>{summary}</summary>
    {content}
  </details>
);

const typedField = (address: string): Pick<Body, 'ipv4Address' | 'ipv6Address'> =>
  address.includes(':') ? { ipv6Address: address } : { ipv4Address: address };
