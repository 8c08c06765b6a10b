import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api';
import { Collection } from '../../parts/collection';
import { ProviderMessage } from '../../parts/provider-message';
import { RuleText } from '../../parts/rule-events';
import { CAUSES } from '../../parts/event-texts';
import { Lines, Reason, SessionLink, StaticRuleLink } from '../../parts/words';
import { Badge, Code, Empty, Muted, Section, Time, TimeLeft, type Column, type Tone } from '../../ui';

type Rule = Schemas['ResourceRuleDto'];

const WAITS: Readonly<Record<NonNullable<Rule['waitsFor']>, string | null>> = {
  SLOT: 'waits for a worker',
  GAP: 'waits for the next write to the target, for which changes are gathered',
  TURN: 'waits for its cloud account, which allows no more changes yet',
  BACK_OFF: 'waits for the next attempt',
  SUSPENSION: null,
};

/** What is under way with a rule. */
function stateOf(rule: Rule): readonly [Tone, string] {
  if (rule.isOverdue) return ['bad', 'should be gone'];
  if (rule.isSuspended) return ['warn', 'removed by another program'];
  if (rule.presence === 'UNKNOWN') return ['busy', 'being checked'];
  if (rule.isUnmanaged) return ['neutral', 'unmanaged'];
  if (rule.isWanted && rule.presence === 'PRESENT') return ['good', 'open'];
  if (rule.lastError) return ['warn', rule.isWanted ? 'cannot be added' : 'cannot be removed'];
  return ['busy', rule.isWanted ? 'being added' : 'being removed'];
}

function State({ rule }: { rule: Rule }) {
  const [tone, text] = stateOf(rule);
  // an error that says so is shown instead
  const wait = rule.waitsFor && !(rule.waitsFor === 'TURN' && rule.lastError) ? WAITS[rule.waitsFor] : null;
  return (
    <Lines>
      <Badge tone={tone}>{text}</Badge>
      {rule.removalCause ? <Reason>{CAUSES[rule.removalCause]}</Reason> : null}
      {rule.lastError ? <ProviderMessage of={rule.lastError} /> : null}
      {wait ? <Reason>{wait}</Reason> : null}
    </Lines>
  );
}

/** Who holds a rule, and until when. @param id of the resource that is shown */
const Holders = ({ rule, id }: { rule: Rule; id: string }) => (
  <Lines>
    {rule.holders.map((holder) => (
      <Lines key={holder.id + holder.resourceId}>
        {holder.kind === 'STATIC_RULE' ? (
          <StaticRuleLink id={holder.id}>Static IP rule {holder.label}</StaticRuleLink>
        ) : (
          <SessionLink id={holder.id}>{holder.userName ?? 'a session'}</SessionLink>
        )}
        <Muted>
          {[holder.userEmail, holder.resourceId === id ? null : holder.resourceName]
            .filter(Boolean)
            .map((text) => `${text} · `)}
          {holder.until ? <TimeLeft until={holder.until} /> : null}
          {holder.releasedAt ? ' waits for the removal' : null}
        </Muted>
      </Lines>
    ))}
    {rule.isHeldByOthers ? <Muted>another organization</Muted> : null}
    {rule.isUnmanaged ? <Code>{rule.providerRuleId ?? ''}</Code> : null}
  </Lines>
);

const columnsOf = (id: string): readonly Column<Rule>[] => [
  { head: 'Address', cell: (rule) => <RuleText {...rule} /> },
  { head: 'State', cell: (rule) => <State rule={rule} /> },
  { head: 'Held by', cell: (rule) => <Holders rule={rule} id={id} /> },
  { head: 'Open since', cell: ({ presentSince }) => <Time at={presentSince} none="not seen yet" /> },
  { head: 'Last seen', cell: ({ lastObservedAt }) => <Time at={lastObservedAt} none="never" /> },
];

/** The rules on the target: those that users here hold, then those of other programs. */
export const ResourceRules = ({ id }: { id: string }) => (
  <Section title="Rules and who holds them">
    <Muted>Drawbridge never changes the unmanaged rules of other programs.</Muted>
    <Collection
      caption="Rules on the target"
      path="/api/v1/resources/{id}/rules"
      of={{ id }}
      columns={columnsOf(id)}
      isUnsettled={(rule) => ['busy', 'bad'].includes(stateOf(rule)[0])}
      empty={
        <Empty title="There is no access now">
          <Link to="/">Let yourself in</Link>
        </Empty>
      }
    />
  </Section>
);
