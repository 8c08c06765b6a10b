import { getRouteApi, Link } from '@tanstack/react-router';
import type { Schemas } from '../../api';
import { Collection } from '../../parts/collection';
import { Download } from '../../parts/download';
import { AUDIT_EVENTS } from '../../parts/event-texts';
import { EVENTS } from '../../parts/events';
import { RESOURCE, TIMES, type Filter } from '../../parts/filters';
import { Lines, Reason, sentence, wordsOf } from '../../parts/words';
import { Badge, Code, Empty, Facts, Muted, Page, Section, Time, unbroken } from '../../ui';
import { ZoneSwitch, type Column } from '../../ui';

type AuditRecord = Schemas['AuditRecordDto'];

const route = getRouteApi('/signed-in/administrator/audit');

const FILTERS: readonly Filter[] = [
  { name: 'eventType', label: 'Event', options: Object.fromEntries(EVENTS) },
  RESOURCE,
  { name: 'actorEmail', label: 'Done by', placeholder: 'ada@example.com' },
  ...TIMES,
];

/** What was done in the organization, by whom. */
export function Audit() {
  const { from, to } = route.useSearch();
  return (
    <Page
      title="Audit trail"
      lead="Every change and every sign-in, also those that were refused. A record cannot be changed."
      actions={
        // the sealed records of the time that is shown
        <Download
          name="audit"
          path="/api/v1/audit-logs/export"
          query={{ from, to }}
          label="Export all events as CSV"
          busy="Fetching the records…"
        />
      }
    >
      <Section actions={<ZoneSwitch />}>
        <Collection
          caption="Audit records, newest first"
          path="/api/v1/audit-logs"
          columns={COLUMNS}
          filters={FILTERS}
          empty={<Empty title="No record yet" />}
        />
      </Section>
    </Page>
  );
}

const COLUMNS: readonly Column<AuditRecord>[] = [
  { head: 'When', cell: ({ timestamp }) => <Time at={timestamp} isExact /> },
  {
    head: 'What',
    cell: ({ eventType, result, errorMessage }) => (
      <Lines>
        <strong>{AUDIT_EVENTS[eventType]}</strong>
        {result === 'FAILURE' ? <Badge tone="bad">failed</Badge> : null}
        {errorMessage ? <Reason isBad>{errorMessage}</Reason> : null}
      </Lines>
    ),
  },
  { head: 'Object', cell: (record) => <Details of={record} /> },
  {
    head: 'Done by',
    cell: ({ actorType, actorEmail, ipAddress }) => (
      <Lines>
        {actorEmail ?? sentence(wordsOf(actorType))}
        {ipAddress === null ? null : <Code>{ipAddress}</Code>}
      </Lines>
    ),
  },
];

/** To which object, and all else that was recorded. */
function Details({ of: record }: { of: AuditRecord }) {
  const { changed, ...details } = record.details;
  const all = Object.entries({ ...details, ...(changed as object | undefined) });
  return (
    <Lines>
      {record.resourceName}
      <details>
        <summary>
          <Muted>Details</Muted>
        </summary>
        <Facts
          of={{
            'Done by': `${record.actorType} ${record.actorId ?? ''}`,
            Object: record.resourceId ? (
              <Link to="/audit" search={{ resourceId: record.resourceId }}>
                {unbroken(`${record.resourceType} ${record.resourceId}`)}
              </Link>
            ) : null,
            ...Object.fromEntries(all.map(([name, value]) => [nameOf(name), textOf(value)])),
            Record: <Code copied="Record id">{record.id}</Code>,
          }}
        />
      </details>
    </Lines>
  );
}

const nameOf = (field: string): string => sentence(wordsOf(field.replaceAll(/[A-Z]/g, '_$&')));

/** A detail as one reads it. */
function textOf(value: unknown): string {
  if (value === null || value === '') return 'none';
  if (Array.isArray(value)) return value.map(textOf).join(', ') || 'none';
  if (typeof value !== 'object') return `${value as string | number | boolean}`;
  if ('from' in value && 'to' in value) return `${textOf(value.from)} → ${textOf(value.to)}`;
  if ('name' in value) return textOf(value.name);
  return Object.entries(value)
    .map(([name, inner]) => `${name}: ${textOf(inner)}`)
    .join(', ');
}
