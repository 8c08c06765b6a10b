import { Link } from '@tanstack/react-router';
import { useList, type Schemas } from '../../api';
import {
  Badge,
  Empty,
  Loaded,
  Muted,
  Pager,
  Section,
  Stack,
  Table,
  Time,
  TimeLeft,
  type Column,
  type Tone,
} from '../../ui';
import { wordsOf } from './types';

type Rule = Schemas['ResourceRuleDto'];
type Holder = Schemas['ResourceRuleHolderDto'];

const SIZE = 50;

/** What is under way with a rule. */
function stateOf(rule: Rule): readonly [Tone, string] {
  if (rule.isOverdue) return ['bad', 'should be gone'];
  if (rule.isSuspended) return ['warn', 'removed by another program'];
  if (rule.presence === 'UNKNOWN') return ['busy', 'being checked'];
  if (rule.isWanted) {
    if (rule.presence === 'PRESENT') return ['good', 'open'];
    return rule.lastError ? ['warn', 'cannot be added'] : ['busy', 'being added'];
  }
  if (rule.isUnmanaged) return ['neutral', 'unmanaged'];
  return rule.lastError ? ['warn', 'cannot be removed'] : ['busy', 'being removed'];
}

const isUnsettled = (rule: Rule): boolean => ['busy', 'bad'].includes(stateOf(rule)[0]);

/** `203.0.113.10/32`, and what it may reach. */
export const RuleText = ({ address, protocol, ports }: Pick<Rule, 'address' | 'protocol' | 'ports'>) => (
  <div>
    <code>{address}</code>
    <br />
    <Muted>{protocol === 'all' ? 'everything' : `${protocol} ${ports === '*' ? 'every port' : ports}`}</Muted>
  </div>
);

/** @param id of the resource that is shown */
const columnsOf = (id: string): readonly Column<Rule>[] => [
  { head: 'Address', cell: (rule) => <RuleText {...rule} /> },
  {
    head: 'State',
    cell: (rule) => {
      const [tone, text] = stateOf(rule);
      return (
        <Stack>
          <div>
            <Badge tone={tone}>{text}</Badge>
          </div>
          {rule.removalCause ? <Muted>{wordsOf(rule.removalCause)}</Muted> : null}
          {rule.lastError ? <Muted>{rule.lastError}</Muted> : null}
          {rule.isSuspended && rule.nextAttemptAt ? (
            <Muted>
              added again <Time at={rule.nextAttemptAt} />
            </Muted>
          ) : null}
        </Stack>
      );
    },
  },
  {
    head: 'Held by',
    cell: (rule) => (
      <Stack>
        {rule.holders.map((holder) => (
          <HolderText
            key={holder.id + holder.resourceId}
            of={holder}
            isElsewhere={holder.resourceId !== id}
          />
        ))}
        {rule.isHeldByOthers ? <Muted>another organization</Muted> : null}
        {rule.isUnmanaged && rule.providerRuleId ? <code>{rule.providerRuleId}</code> : null}
        {rule.holders.length === 0 && !rule.isHeldByOthers && !rule.isUnmanaged ? (
          <Muted>nobody</Muted>
        ) : null}
      </Stack>
    ),
  },
  { head: 'Open since', cell: ({ presentSince }) => <Time at={presentSince} /> },
  { head: 'Last seen', cell: ({ lastObservedAt }) => <Time at={lastObservedAt} /> },
];
/** Who holds a rule, and until when. */
const HolderText = ({ of, isElsewhere }: { readonly of: Holder; readonly isElsewhere: boolean }) => (
  <div>
    <HolderLink of={of} />
    <br />
    <Muted>
      {[of.userEmail, isElsewhere ? of.resourceName : null].filter(Boolean).join(' · ')}
      {of.until ? (
        <>
          {' · '}
          <TimeLeft until={of.until} />
        </>
      ) : null}
      {of.releasedAt ? ' · waits for the removal' : null}
    </Muted>
  </div>
);

function HolderLink({ of }: { readonly of: Holder }) {
  if (of.kind === 'STATIC_RULE')
    return (
      <Link to="/static-rules/$id" params={{ id: of.id }}>
        Static IP rule{of.label ? `: ${of.label}` : null}
      </Link>
    );
  return of.userId === null ? (
    <>a session</>
  ) : (
    <Link to="/people/$id" params={{ id: of.userId }}>
      {of.userName}
    </Link>
  );
}

const keyOf = (rule: Rule): string =>
  rule.id ?? `${rule.address} ${rule.protocol} ${rule.ports} ${rule.providerRuleId}`;

/** The rules on the target: those that somebody here holds, then those of other programs. */
export function ResourceRules({ id, page }: { readonly id: string; readonly page: number }) {
  const rules = useList(
    '/api/v1/resources/{id}/rules',
    { path: { id }, query: { page, size: SIZE } },
    { isUnsettled: ({ items }) => items.some(isUnsettled) },
  );
  return (
    <Section title="Who holds what now">
      <Loaded query={rules}>
        {({ items, total }) => (
          <>
            {items.some((rule) => rule.isUnmanaged) ? (
              <Muted>Other programs or people made the unmanaged rules. Drawbridge never changes them.</Muted>
            ) : null}
            <Table
              caption="Rules on the target"
              rows={items}
              keyOf={keyOf}
              columns={columnsOf(id)}
              empty={
                <Empty title="Nobody has access now">
                  <Link to="/">Let yourself in</Link>
                </Empty>
              }
            />
            <Pager page={page} size={SIZE} total={total} />
          </>
        )}
      </Loaded>
    </Section>
  );
}
