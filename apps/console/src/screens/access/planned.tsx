import { api, Failure, type Schemas } from '../../api';
import { opened } from '../../parts/session-actions';
import { count, inShort } from '../../parts/words';
import { aboutText, Dialog, Facts, Form, Time } from '../../ui';
import type { Body } from './starting';

type Plan = Schemas['SessionPlanDto'];
type Outcome = Schemas['PlannedRuleDto']['outcome'];

/** A start that was planned, and waits to be confirmed. */
export interface Planned {
  readonly request: Body;
  readonly plan: Plan;
}

/** @throws Failure what the start would be refused with */
export async function planStart(request: Body): Promise<Planned> {
  const plan = (await api.POST('/api/v1/sessions/plan', { body: request })).data!;
  const { refusal } = plan;
  if (refusal) throw new Failure(refusal.message, refusal.status, refusal.error, refusal.validationErrors);
  return { request, plan };
}

/** On which resources rules have an outcome; null: on none. */
function where({ resources }: Plan, outcome: Outcome): string | null {
  const names = resources
    .filter(({ rules }) => rules.some((rule) => rule.outcome === outcome))
    .map(({ resourceName }) => resourceName);
  return inShort(names) || null;
}

function leftOut({ inactiveResources }: Plan): string | null {
  if (inactiveResources === null) return null;
  const { total, sample } = inactiveResources;
  return total > sample.length ? `${count(total, 'resource')}, such as ${inShort(sample)}` : inShort(sample);
}

/** Such as "118 rules on 40 resources". */
function opening({ resources }: Plan): string {
  const rules = resources.map((each) => each.rules.filter(({ outcome }) => outcome === 'OPENS').length);
  const all = rules.reduce((sum, each) => sum + each, 0);
  return `${count(all, 'rule')} on ${count(rules.filter(Boolean).length, 'resource')}`;
}

interface PlannedStartProps extends Planned {
  readonly onStarted: (id: string) => void;
  readonly onClose: () => void;
}

/** What a start of many resources would do, before it does. */
export const PlannedStart = ({ request, plan, onStarted, onClose }: PlannedStartProps) => (
  <Dialog title={`Open ${count(plan.resources.length, 'resource')}?`} onClose={onClose}>
    <Form
      submit="Let me in"
      busy="Opening…"
      announcement={() => 'The access is open.'}
      onCancel={onClose}
      send={() =>
        opened(request, (id) => {
          onClose();
          onStarted(id);
        })
      }
    >
      <Facts
        of={{
          Address: [plan.ipv4Address, plan.ipv6Address].filter(Boolean).join(' and '),
          Opens: opening(plan),
          'Open already': where(plan, 'SHARED'),
          'Let in by other rules': where(plan, 'ALREADY_OPEN'),
          'No room on': where(plan, 'FULL'),
          'Perhaps no room on': where(plan, 'MAY_BE_FULL'),
          'Left out, not verified': leftOut(plan),
          'The last opens in': plan.waitSeconds ? aboutText(plan.waitSeconds) : null,
          Closes: plan.closes.length > 0 ? count(plan.closes.length, 'rule') : null,
          Until: <Time at={plan.expiresAt} none="unknown" />,
        }}
      />
    </Form>
  </Dialog>
);
